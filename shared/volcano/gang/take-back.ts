/**
 * The end of a plan whose pods did not all get their nodes in time: the group waits again, its pods are deleted, and it is
 * planned again later, at first without the nodes that refused. A group that was whole once is never taken back.
 */
import * as z from "zod";
import { jsonOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf, timeText } from "../../core/time.ts";
import { isEnding, isOver, nodeNameOf, podStatus } from "../../kube/pods.ts";
import { keys } from "../schema/resource.ts";
import { type JobSpec, nameOf, tasksOf } from "../schema/spec.ts";
import { type GangPlan, nodesOf } from "./plan.ts";

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

const shape = z.object({
  at: z.string(),
  times: z.number().int().min(1).max(1_000_000),
  nodes: z.array(z.string()).max(10_000),
});

/** Returns when and how often a group was taken back; undefined if it was not. */
export const takenBackOf = (group: Stored): TakenBack | undefined => {
  const text = group.metadata.annotations?.[takenBackKey];
  const { data } = shape.safeParse(text === undefined ? undefined : jsonOf(text));
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
