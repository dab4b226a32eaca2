/**
 * The plan of a group: the places that its minimum has on nodes, as the group's annotation holds them from its admission
 * until all of these pods have had a node. While it stands, it reserves the places. Pods are created pinned to their places,
 * see kube/node-pin.ts; pods beyond the plan are created after it has ended.
 */
import * as z from "zod";
import { jsonOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf, timeText } from "../../core/time.ts";

/** Annotation of a group that Rekindle admitted; it names the scheduler of the group's pods. */
export const letIn = "rekindle.dev/scheduled-by";

/** Annotation of a group: its plan. */
export const planKey = "rekindle.dev/plan";

/** A number of pods of a task on a node. */
export type Place = { readonly task: string; readonly node: string; readonly count: number };

/** Counts of pods by node, by task. */
type Places = Readonly<Record<string, Readonly<Record<string, number>>>>;

export type GangPlan = {
  /** When the group was admitted, epoch ms. */
  readonly since: number;
  readonly places: Places;
};

/** The most pods of a plan, as of a job: an annotation that says more is no plan. */
const mostPods = 100_000;

const podsIn = (places: Places): number =>
  Object.values(places)
    .flatMap((nodes) => Object.values(nodes))
    .reduce((sum, count) => sum + count, 0);

const shape = z.object({
  since: z.string(),
  places: z
    .record(z.string(), z.record(z.string(), z.number().int().positive()))
    .refine((places) => podsIn(places) <= mostPods),
});

/** Returns the plan of a group; undefined if it has none, or if a user has written something else into the annotation. */
export const planOf = (group: Stored): GangPlan | undefined => {
  const text = group.metadata.annotations?.[planKey];
  const { data } = shape.safeParse(text === undefined ? undefined : jsonOf(text));
  const since = instantOf(data?.since);
  return data === undefined || since === undefined ? undefined : { since, places: data.places };
};

/** The most characters of a plan: annotations of an object may have 262,144 together, and a round reads all plans. */
export const mostPlanBytes = 32_768;

/** Writes a plan for the annotation; nodes are in the order of their names. */
export const planText = (places: readonly Place[], now: number): string => {
  const byTask: Record<string, Record<string, number>> = {};
  for (const { task, node, count } of [...places].sort((a, b) => (a.node < b.node ? -1 : 1))) {
    const nodes = byTask[task] ?? {};
    byTask[task] = { ...nodes, [node]: (nodes[node] ?? 0) + count };
  }
  return JSON.stringify({ since: timeText(now), places: byTask });
};

/** Returns the places of a task: a node's name for each ordinal from 0 on. */
export const nodesOf = ({ places }: Pick<GangPlan, "places">, task: string): readonly string[] =>
  Object.entries(Object.hasOwn(places, task) ? (places[task] ?? {}) : {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([node, count]) => Array.from({ length: count }, () => node));
