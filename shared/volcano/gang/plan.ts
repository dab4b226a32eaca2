/**
 * The end of a group's plan: when it is due, and which nodes refused their pods. Phase and status of a group are derived
 * as Volcano's scheduler would write them.
 */

import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { admissibleAt, evictedKey, evictedOf, isMarkOver } from "../../kube/gang-eviction.ts";
import type { GangMembers } from "../../kube/gang-members.ts";
import {
  bindMs,
  createMs,
  type GangPlan,
  nodesOf,
  phaseOf,
  planKey,
  planOf,
  retryAt,
  scheduledByKey,
  type TakenBack,
  takenBackKey,
  takenBackOf,
  tasksIn,
} from "../../kube/gang-plan.ts";
import { type Amounts, merged, requestsOf } from "../../kube/pod-usage.ts";
import { conditionOf, isEnding, isOver, nodeNameOf, podStatus } from "../../kube/pods.ts";
import { larger, quantityText } from "../../kube/quantity.ts";
import type { Json } from "../../kube/responses.ts";
import { keys } from "../schema/resource.ts";
import { type JobSpec, nameOf, tasksOf } from "../schema/spec.ts";

const taskOf = ({ metadata }: Stored): string | undefined => metadata.annotations?.[keys.taskSpec];

/** True for a pod that has a node, or had one. */
const hasNode = (pod: Stored): boolean => nodeNameOf(pod) !== undefined || isOver(podStatus(pod));

type Lack = { readonly task: string; readonly pods: readonly Stored[]; readonly missing: number };

/** Returns the planned tasks of which pods lack a node. */
const lacksOf = (plan: GangPlan, pods: readonly Stored[]): readonly Lack[] =>
  tasksIn(plan).flatMap((task) => {
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

/** Returns when the newest of these pods was created, epoch ms, at least `since`; undefined without pods. */
const newestSince = (since: number, pods: readonly Stored[]): number | undefined =>
  pods.length === 0
    ? undefined
    : pods.reduce((newest, { metadata }) => Math.max(newest, instantOf(metadata.creationTimestamp) ?? since), since);

/**
 * Returns when these pods of a plan are late, epoch ms. Their time begins with the newest of them, so that a part of them
 * that is still to be created does not end it; pods that come after the time for their creation do not prolong it.
 */
const lateAt = ({ since }: GangPlan, pods: readonly Stored[]): number => {
  const newest = newestSince(since, pods);
  return newest === undefined ? since + createMs : Math.min(newest, since + createMs) + bindMs;
};

/**
 * Returns when the group is to be taken back, epoch ms; undefined while nothing of it is late. Pods of a task that depends
 * on others come later: their time begins with the newest of that task.
 */
export const deadlineOf = (plan: GangPlan, spec: JobSpec, pods: readonly Stored[]): number | undefined => {
  const later = dependents(spec);
  const first = pods.filter((pod) => !later.has(taskOf(pod) ?? ""));
  const dues = lacksOf(plan, pods).flatMap(({ task, pods: own }) => {
    if (!later.has(task)) return [lateAt(plan, first)];
    const newest = newestSince(plan.since, own);
    return newest === undefined ? [] : [newest + bindMs];
  });
  return dues.length === 0 ? undefined : Math.min(...dues);
};

/** The time that the pods of later members have for getting their nodes, once the pod that creates them runs, ms. */
const followMs = 120_000;

/** The longest time from the node of that pod to its start in which places stay reserved, ms. */
const startMs = 600_000;

/** Returns until when the members that come after a pod with a node have their places, epoch ms. */
const followersDue = (pod: Stored): number => {
  if (podStatus(pod).phase === "Pending") return startedAt(pod) + startMs;
  const ready = conditionOf(podStatus(pod), "Ready");
  const upAt = ready?.status === "True" ? instantOf(ready.lastTransitionTime) : undefined;
  return (upAt ?? startedAt(pod)) + followMs;
};

type Stated = { readonly plan: GangPlan; readonly members: GangMembers; readonly pods: readonly Stored[] };

const leaderOf = ({ members: { members }, pods }: Stated, task: string): string | undefined => {
  const after = members.find((one) => one.task === task)?.after;
  return pods.some((pod) => taskOf(pod) === after && hasNode(pod)) ? after : undefined;
};

/**
 * Returns when the plan of a group that states its members ends, epoch ms: at once if no pod lacks a node. Members that
 * come after a pod without a node are not late before that pod is.
 */
export const statedDeadline = (stated: Stated): number => {
  const { plan, members, pods } = stated;
  const followers = new Set(members.members.flatMap(({ task, after }) => (after === undefined ? [] : [task])));
  const first = pods.filter((pod) => !followers.has(taskOf(pod) ?? ""));
  const dues = lacksOf(plan, pods).flatMap(({ task }) => {
    const leader = leaderOf(stated, task);
    const found = leader === undefined ? undefined : pods.find((pod) => taskOf(pod) === leader && hasNode(pod));
    if (found !== undefined) return [followersDue(found)];
    return followers.has(task) ? [] : [lateAt(plan, first)];
  });
  return dues.length === 0 ? plan.since : Math.min(...dues);
};

/** True if the group is taken back at its deadline. Otherwise its plan ends, and what runs goes on. */
export const isForfeit = (stated: Stated): boolean =>
  lacksOf(stated.plan, stated.pods).some(({ task }) => stated.members.required || leaderOf(stated, task) === undefined);

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
  return thief === undefined ? node : `${node}, taken by pod ${nameText(thief)}`;
};

const uncreatedText = (total: number): string =>
  `none of its ${total} pods was created within ${createMs / 1_000} s; the events of its owner tell why`;

export type Refused = Pick<TakenBack, "sizes"> & { readonly nodes: readonly string[]; readonly message: string };

/** The most tasks, and resources of a pod, of which sizes are remembered. */
const mostSizes = 16;

/** Returns what the largest pod of each task requests, as texts: the plan may have counted less. */
const sizesOf = (lacks: readonly Lack[]): NonNullable<TakenBack["sizes"]> =>
  Object.fromEntries(
    lacks.slice(0, mostSizes).flatMap(({ task, pods }) => {
      const sizes = pods.map((pod) => requestsOf(fieldsOf(pod.spec)));
      const size = sizes.reduce<Amounts>((one, other) => merged(one, other, larger), new Map());
      const texts = [...size].filter(([name, { nano }]) => name !== "pods" && nano > 0n).slice(0, mostSizes);
      return texts.length === 0
        ? []
        : [[task, Object.fromEntries(texts.map(([name, one]) => [name, quantityText(one)]))]];
    }),
  );

/**
 * Returns the nodes that did not take their pods, and what to say about it; undefined if nothing is missing. `pods`: all
 * pods of the group, finished ones included; `others`: unfinished pods of the cluster.
 */
export const refusedOf = (
  plan: GangPlan,
  pods: readonly Stored[],
  others: readonly Stored[],
  inTime = `within ${bindMs / 1_000} s`,
): Refused | undefined => {
  const lacks = lacksOf(plan, pods);
  if (lacks.length === 0) return undefined;
  const total = tasksIn(plan).reduce((sum, task) => sum + nodesOf(plan, task).length, 0);
  if (pods.length === 0) return { nodes: [], message: uncreatedText(total) };
  const nodes = [...new Set(lacks.flatMap(({ task, pods: own }) => leftOf(nodesOf(plan, task), own)))];
  const foreign = others.filter((pod) => !pods.some(({ metadata }) => metadata.uid === pod.metadata.uid));
  const missing = lacks.reduce((sum, lack) => sum + lack.missing, 0);
  const where = nodes.slice(0, mostNamed).map((node) => refusalText(node, plan.since, foreign));
  const more = nodes.length > mostNamed ? ` and ${nodes.length - mostNamed} more` : "";
  const sizes = sizesOf(lacks);
  return {
    ...{ nodes, ...(Object.keys(sizes).length === 0 ? {} : { sizes }) },
    message: `${missing} of ${total} pods did not get their places ${inTime}: ${where.join("; ")}${more}`,
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

/** True if pods of a taken-back or evicted group, or pods under deletion, still stand in the way of its next plan. */
export const hasOldPods = (group: Stored, pods: readonly Stored[]): boolean =>
  takenBackOf(group) === undefined && evictedOf(group) === undefined ? pods.some(isEnding) : pods.length > 0;

/** Returns when a group that lost its places may be planned again, epoch ms; undefined if it did not. */
export const plannableAt = (group: Stored): number | undefined => {
  const [back, evicted] = [takenBackOf(group), evictedOf(group)];
  const instants = [...(back ? [retryAt(back)] : []), ...(evicted ? [admissibleAt(evicted)] : [])];
  return instants.length === 0 ? undefined : Math.max(...instants);
};

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
  const { minMember } = fieldsOf(group.spec);
  return typeof minMember === "number" ? minMember : 0;
};

const countsOf = ({ running, succeeded, failed }: Count): Json => ({ running, succeeded, failed });

const saysSo = (group: Stored, counts: Json): boolean => {
  const status = fieldsOf(group.status);
  return Object.entries(counts).every(([name, count]) => (status[name] ?? 0) === count);
};

/** The end of a plan: the group was whole once, so it is not taken back any more. */
export const planEnds: Json = {
  metadata: { annotations: { [planKey]: null, [takenBackKey]: null, [evictedKey]: null } },
};

/** The end of a mark of evicted pods. */
const markEnds: Json = { metadata: { annotations: { [evictedKey]: null } } };

/**
 * Returns the part of a group that its pods change; undefined if it is up to date, or Rekindle has not admitted the group.
 * `isWhole`: no pod of its plan lacks a node. While one does, the group is Inqueue. `now`: epoch ms.
 */
export const groupStatusPatch = (
  group: Stored,
  pods: readonly Stored[],
  { isWhole, now: at }: { readonly isWhole: boolean; readonly now: number },
): Json | undefined => {
  const now = phases.find((phase) => phase === phaseOf(group));
  if (now === undefined || group.metadata.annotations?.[scheduledByKey] === undefined) return undefined;
  const isPlanned = planOf(group) !== undefined;
  if (isPlanned && !isWhole) return undefined;
  const count = countOf(pods);
  const phase = nextOf(now, count, leastOf(group));
  const counts = countsOf(count);
  const mark = evictedOf(group);
  const ends = isPlanned ? planEnds : mark !== undefined && isMarkOver(mark, at) ? markEnds : undefined;
  // The status of an Inqueue group gets no pod counts.
  if (phase === now && (phase === "Inqueue" || saysSo(group, counts))) return ends;
  return { ...ends, status: { phase, ...counts } };
};
