/**
 * The plan of a group of pods that starts whole: the places that its minimum has on nodes, as the annotation of its
 * PodGroup holds them from its admission until all of these pods have had a node. While it stands, it reserves the
 * places. Pods are created pinned to their places, see nodes.ts; pods beyond the plan are created after it has ended.
 *
 * A plan whose pods did not all get their nodes in time ends: the group waits again, its pods are deleted, and it is
 * planned again later, at first without the nodes that refused.
 */

import * as z from "zod";
import { fieldsOf, jsonOf } from "../core/json.ts";
import type { Stored } from "../core/object.ts";
import { instantOf, timeText } from "../core/time.ts";
import { isEnding } from "./pods.ts";

export const phaseOf = (group: Stored): string => {
  const { phase } = fieldsOf(group.status);
  return typeof phase === "string" ? phase : "";
};

/** True for a group that is still to be admitted. */
export const isWaiting = (group: Stored): boolean => ["", "Pending"].includes(phaseOf(group)) && !isEnding(group);

/** True of the phase of a group that holds its resources in its queue. */
export const isHolding = (phase: string): boolean => ["Inqueue", "Running", "Unknown"].includes(phase);

/** Annotation of a group that Rekindle admitted; it names the scheduler of the group's pods. */
export const scheduledByKey = "rekindle.dev/scheduled-by";

/** The scheduler that places pods where Volcano's scheduler does not. */
export const placer = "default-scheduler";

/** Annotation of a group: its plan. */
export const planKey = "rekindle.dev/plan";

/** Annotation of a waiting group: since when it has lacked nothing but room. */
export const lacksRoomKey = "rekindle.dev/lacks-room-since";

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

/** Returns the name under which a plan has the places of one partition of a task. No name of a task has a slash. */
export const partitionKey = (task: string, partition: number | string): string => `${task}/${partition}`;

/** Returns the task of places, which may be those of one of its partitions. */
export const taskIn = (key: string): string => key.split("/", 1)[0] ?? "";

const partitionIn = (key: string): number => Number(key.slice(key.indexOf("/") + 1));

/** Returns the tasks that have places in a plan. */
export const tasksIn = ({ places }: Pick<GangPlan, "places">): readonly string[] => [
  ...new Set(Object.keys(places).map(taskIn)),
];

/** Returns the places of a task: a node's name for each ordinal from 0 on. Its partitions follow each other. */
export const nodesOf = ({ places }: Pick<GangPlan, "places">, task: string): readonly string[] =>
  Object.keys(places)
    .filter((key) => taskIn(key) === task)
    .sort((a, b) => partitionIn(a) - partitionIn(b))
    .flatMap((key) => Object.entries(places[key] ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))
    .flatMap(([node, count]) => Array.from({ length: count }, () => node));

/** Annotation of a group that was taken back and was not whole since. */
export const takenBackKey = "rekindle.dev/taken-back";

export type TakenBack = {
  /** Epoch ms. */
  readonly at: number;
  /** How often in a row. */
  readonly times: number;
  /** Nodes that refused pods the last time. */
  readonly nodes: readonly string[];
  /** Of tasks whose pods did not get their places: what their pods request, as the API server made them. */
  readonly sizes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

const takenBackForm = z.object({
  at: z.string(),
  times: z.number().int().min(1).max(1_000_000),
  nodes: z.array(z.string()).max(10_000),
  sizes: z.record(z.string(), z.record(z.string(), z.string())).optional(),
});

/** Returns when and how often a group was taken back; undefined if it was not. */
export const takenBackOf = (group: Stored): TakenBack | undefined => {
  const text = group.metadata.annotations?.[takenBackKey];
  const { data } = takenBackForm.safeParse(text === undefined ? undefined : jsonOf(text));
  const at = instantOf(data?.at);
  if (data === undefined || at === undefined) return undefined;
  const { sizes, ...rest } = data;
  return { ...rest, at, ...(sizes === undefined ? {} : { sizes }) };
};

export const takenBackText = ({ at, times, nodes, sizes }: TakenBack): string =>
  JSON.stringify({ at: timeText(at), times, nodes, ...(sizes === undefined ? {} : { sizes }) });

const firstRetryMs = 30_000;
const lastRetryMs = 600_000;

/** Returns when a group that was taken back is planned again, epoch ms. */
export const retryAt = ({ at, times }: TakenBack): number =>
  at + Math.min(firstRetryMs * 2 ** Math.min(times - 1, 30), lastRetryMs);

/** The time from the admission in which the pods of a plan must be created, ms: a busy host comes to some groups late. */
export const createMs = 120_000;

/** The time from the creation of the newest pod of a plan in which its pods must get their nodes, ms. */
export const bindMs = 60_000;

/** The longest time from the save that planned the creation of a pod to the creation: fence, timeout, rounding. */
const latestMs = 16_000;

/** True if a pod was created for a plan that was taken back; the next plan comes at least `firstRetryMs` later. */
export const isOfTakenBack = ({ at }: TakenBack, pod: Stored): boolean =>
  (instantOf(pod.metadata.creationTimestamp) ?? 0) <= at + latestMs;
