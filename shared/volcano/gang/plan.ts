/**
 * The plan of a group: the places that its minimum has on nodes, as the group's annotation holds them from its
 * admission until all of these pods have had a node. While it stands, it reserves the places. Pods are created pinned
 * to their places, see kube/node-pin.ts; pods beyond the plan are created after it has ended.
 *
 * A plan whose pods did not all get their nodes in time ends: the group waits again, its pods are deleted, and it is
 * planned again later, at first without the nodes that refused. Phase and status of a group are derived as Volcano's
 * scheduler would write them.
 */

import * as z from "zod";
import { fieldsOf, jsonOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf, timeText } from "../../core/time.ts";
import { conditionOf, isEnding, isOver, nodeNameOf, podStatus } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { statusOf } from "../queue/state/tree.ts";
import { keys } from "../schema/resource.ts";
import { type JobSpec, nameOf, tasksOf } from "../schema/spec.ts";

export const phaseOf = (group: Stored): string => {
  const { phase } = statusOf(group);
  return typeof phase === "string" ? phase : "";
};

/** True for a group that is still to be admitted. */
export const isWaiting = (group: Stored): boolean => ["", "Pending"].includes(phaseOf(group)) && !isEnding(group);

/** Annotation of a group that Rekindle admitted; it names the scheduler of the group's pods. */
export const scheduledByKey = "rekindle.dev/scheduled-by";

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

/** Returns the places of a task: a node's name for each ordinal from 0 on. */
export const nodesOf = ({ places }: Pick<GangPlan, "places">, task: string): readonly string[] =>
  Object.entries(Object.hasOwn(places, task) ? (places[task] ?? {}) : {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
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
};

const takenBackForm = z.object({
  at: z.string(),
  times: z.number().int().min(1).max(1_000_000),
  nodes: z.array(z.string()).max(10_000),
});

/** Returns when and how often a group was taken back; undefined if it was not. */
export const takenBackOf = (group: Stored): TakenBack | undefined => {
  const text = group.metadata.annotations?.[takenBackKey];
  const { data } = takenBackForm.safeParse(text === undefined ? undefined : jsonOf(text));
  const at = instantOf(data?.at);
  return data === undefined || at === undefined ? undefined : { ...data, at };
};

export const takenBackText = ({ at, times, nodes }: TakenBack): string =>
  JSON.stringify({ at: timeText(at), times, nodes });

const firstRetryMs = 30_000;
const lastRetryMs = 600_000;

/** Returns when a group that was taken back is planned again, epoch ms. */
export const retryAt = ({ at, times }: TakenBack): number =>
  at + Math.min(firstRetryMs * 2 ** Math.min(times - 1, 30), lastRetryMs);

/** The time that the pods of a plan have for getting their nodes, ms. */
export const bindMs = 60_000;

/** The longest time from the save that planned the creation of a pod to the creation: fence, timeout, rounding. */
const latestMs = 16_000;

/** True if a pod was created for a plan that was taken back; the next plan comes at least `firstRetryMs` later. */
export const isOfTakenBack = ({ at }: TakenBack, pod: Stored): boolean =>
  (instantOf(pod.metadata.creationTimestamp) ?? 0) <= at + latestMs;

const taskOf = ({ metadata }: Stored): string | undefined => metadata.annotations?.[keys.taskSpec];

/** True for a pod that has a node, or had one. */
const hasNode = (pod: Stored): boolean => nodeNameOf(pod) !== undefined || isOver(podStatus(pod));

type Lack = { readonly task: string; readonly pods: readonly Stored[]; readonly missing: number };

/** Returns the planned tasks of which pods lack a node. */
const lacksOf = (plan: GangPlan, pods: readonly Stored[]): readonly Lack[] =>
  Object.keys(plan.places).flatMap((task) => {
    const own = pods.filter((pod) => taskOf(pod) === task);
    const missing = nodesOf(plan, task).length - own.filter(hasNode).length;
    return missing > 0 ? [{ task, pods: own, missing }] : [];
  });

const dependents = (spec: JobSpec): ReadonlySet<string> =>
  new Set(
    tasksOf(spec)
      .filter(({ dependsOn }) => (dependsOn?.name ?? []).length > 0)
      .map(nameOf),
  );

/**
 * Returns when the group is to be taken back, epoch ms; undefined while nothing of it is late. Pods of a task that depends
 * on others come later: their time begins with the newest of them.
 */
export const deadlineOf = (plan: GangPlan, spec: JobSpec, pods: readonly Stored[]): number | undefined => {
  const later = dependents(spec);
  const dues = lacksOf(plan, pods).flatMap(({ task, pods: own }) => {
    if (!later.has(task)) return [plan.since + bindMs];
    const created = own.flatMap(({ metadata }) => instantOf(metadata.creationTimestamp) ?? []);
    return created.length === 0 ? [] : [Math.max(plan.since, ...created) + bindMs];
  });
  return dues.length === 0 ? undefined : Math.min(...dues);
};

const startedAt = (pod: Stored): number =>
  instantOf(podStatus(pod).conditions?.find(({ type }) => type === "PodScheduled")?.lastTransitionTime) ??
  instantOf(podStatus(pod).startTime) ??
  instantOf(pod.metadata.creationTimestamp) ??
  0;

/** Messages name this many nodes, and this many characters of a pod's name, at most. */
const mostNamed = 4;
const longestName = 130;

const nameText = ({ metadata: { namespace = "", name } }: Stored): string =>
  `${namespace}/${name}`.slice(0, longestName);

/** Names the pod of others that came to the node after the plan; else the scheduler's message is the best there is. */
const refusalText = (node: string, since: number, others: readonly Stored[]): string => {
  const [thief] = others
    .filter((pod) => nodeNameOf(pod) === node && startedAt(pod) >= since)
    .sort((a, b) => startedAt(b) - startedAt(a));
  return thief === undefined ? node : `${node}, where pod ${nameText(thief)} has come`;
};

export type Refused = { readonly nodes: readonly string[]; readonly message: string };

/**
 * Returns the nodes that did not take their pods, and what to say about it; undefined if nothing is missing. `pods`: all
 * pods of the group, finished ones included; `others`: unfinished pods of the cluster.
 */
export const refusedOf = (plan: GangPlan, pods: readonly Stored[], others: readonly Stored[]): Refused | undefined => {
  const lacks = lacksOf(plan, pods);
  if (lacks.length === 0) return undefined;
  const nodes = [...new Set(lacks.flatMap(({ task, pods: own }) => leftOf(nodesOf(plan, task), own)))];
  const foreign = others.filter((pod) => !pods.some(({ metadata }) => metadata.uid === pod.metadata.uid));
  const missing = lacks.reduce((sum, lack) => sum + lack.missing, 0);
  const total = Object.keys(plan.places).reduce((sum, task) => sum + nodesOf(plan, task).length, 0);
  const where = nodes.slice(0, mostNamed).map((node) => refusalText(node, plan.since, foreign));
  const more = nodes.length > mostNamed ? ` and ${nodes.length - mostNamed} more` : "";
  return {
    nodes,
    message: `${missing} of ${total} pods did not get their places within ${bindMs / 1_000} s: ${where.join("; ")}${more}`,
  };
};

/** Returns the planned nodes without those that pods of the task have. */
const leftOf = (planned: readonly string[], pods: readonly Stored[]): readonly string[] => {
  const left = [...planned];
  for (const pod of pods) {
    const at = left.indexOf(nodeNameOf(pod) ?? "");
    if (at >= 0) left.splice(at, 1);
  }
  return left;
};

/** True if the pods of a taken-back group, or pods under deletion, still stand in the way of its next plan. */
export const lingers = (group: Stored, pods: readonly Stored[]): boolean =>
  takenBackOf(group) === undefined ? pods.some(isEnding) : pods.length > 0;

type Phase = "Inqueue" | "Running" | "Unknown" | "Completed";

const phases: readonly Phase[] = ["Inqueue", "Running", "Unknown", "Completed"];

type Count = {
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Placed on a node, in whatever state. */
  readonly placed: number;
  /** Unschedulable: no node has room for them. */
  readonly homeless: number;
};

const countOf = (pods: readonly Stored[]): Count => {
  const stati = pods.map((pod) => ({ status: podStatus(pod), node: nodeNameOf(pod) }));
  const inPhase = (name: string): number => stati.filter(({ status }) => status.phase === name).length;
  const [running, succeeded, failed] = [inPhase("Running"), inPhase("Succeeded"), inPhase("Failed")];
  const unplaced = stati.filter(({ status, node }) => status.phase === "Pending" && node === undefined);
  const homeless = unplaced.filter(({ status }) => conditionOf(status, "PodScheduled")?.reason === "Unschedulable");
  const pending = stati.filter(({ status, node }) => status.phase === "Pending" && node !== undefined).length;
  return { running, succeeded, failed, placed: running + succeeded + failed + pending, homeless: homeless.length };
};

/**
 * Returns the next phase. A group that has run and of which a part cannot be placed is `Unknown`. As volcano
 * scheduler's jobStatus.
 */
const nextOf = (now: Phase, { running, succeeded, placed, homeless }: Count, least: number): Phase => {
  if (placed > 0 && placed >= least) return succeeded === placed ? "Completed" : "Running";
  return now !== "Inqueue" && running > 0 && homeless > 0 ? "Unknown" : now;
};

const leastOf = (group: Stored): number => {
  const { minMember } = fieldsOf(group["spec"]);
  return typeof minMember === "number" ? minMember : 0;
};

const countsOf = ({ running, succeeded, failed }: Count): Json => ({ running, succeeded, failed });

const saysSo = (group: Stored, counts: Json): boolean => {
  const status = fieldsOf(group["status"]);
  return Object.entries(counts).every(([name, count]) => (status[name] ?? 0) === count);
};

/** The end of a plan: the group was whole once, so it is not taken back any more. */
const planEnds: Json = { metadata: { annotations: { [planKey]: null, [takenBackKey]: null } } };

/**
 * Returns the part of a group that its pods change; undefined if it is up to date, or Rekindle has not admitted the group.
 * `isWhole`: no pod of its plan lacks a node. While one does, the group is Inqueue.
 */
export const groupStatusPatch = (group: Stored, pods: readonly Stored[], isWhole: boolean): Json | undefined => {
  const now = phases.find((phase) => phase === phaseOf(group));
  if (now === undefined || group.metadata.annotations?.[scheduledByKey] === undefined) return undefined;
  const isPlanned = planOf(group) !== undefined;
  if (isPlanned && !isWhole) return undefined;
  const count = countOf(pods);
  const phase = nextOf(now, count, leastOf(group));
  const counts = countsOf(count);
  const ends = isPlanned ? planEnds : {};
  // The status of an Inqueue group gets no pod counts.
  if (phase === now && (phase === "Inqueue" || saysSo(group, counts))) return isPlanned ? ends : undefined;
  return { ...ends, status: { phase, ...counts } };
};
