/**
 * Nodes of executors. A running pod that is not ready causes a read of its node; a node that is certainly gone differs
 * from a silent one, on which processes may still run. A node that is about to go takes no new executor. After repeated
 * losses on a node, new executors are placed on other nodes for a while, where there are any.
 */
import * as z from "zod";
import { fieldsOf } from "../../core/json.ts";
import type { Obj, Ref, Stored } from "../../core/object.ts";
import type { ProbeResult } from "../../core/plan.ts";
import { instantOf, timeText } from "../../core/time.ts";
import { excluding } from "../../kube/nodes.ts";
import { conditionOf, disruptionOf, isEnding, leavingAt, nodeNameOf, podSpec, podStatus } from "../../kube/pods.ts";
import { nodes } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import type { Loss } from "./ledger.ts";
import { endingOf } from "./losses.ts";

/** `gone`: deleted, or marked out of service by an operator. `hidden`: Rekindle may not read nodes. */
export type NodeState =
  | { readonly is: "answers" | "gone" | "hidden" }
  | { readonly is: "silent"; readonly since: number };

export const nodeRef = (name: string): Ref => ({ resource: nodes, name });

const outOfService = "node.kubernetes.io/out-of-service";

const shape = z.looseObject({
  spec: z.looseObject({ taints: z.array(z.looseObject({ key: z.string() })).nullish() }).optional(),
  status: z
    .looseObject({
      conditions: z
        .array(z.looseObject({ type: z.string(), status: z.string(), lastTransitionTime: z.string().nullish() }))
        .nullish(),
    })
    .optional(),
});

/** The state of a node by its read; times are the cluster's own. */
export const nodeStateOf = (hearing: ProbeResult): NodeState => {
  if (!hearing.heard) return { is: "hidden" };
  if (hearing.value === undefined) return { is: "gone" };
  const parsed = shape.safeParse(hearing.value);
  if (!parsed.success) return { is: "hidden" };
  const { spec, status } = parsed.data;
  if (spec?.taints?.some(({ key }) => key === outOfService) === true) return { is: "gone" };
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.status === "True") return { is: "answers" };
  const since = instantOf(ready.lastTransitionTime);
  return since === undefined ? { is: "answers" } : { is: "silent", since };
};

/** True of a pod that ran, and of which its node reports neither that it runs nor that it ended. */
export const isSuspect = (pod: Stored): boolean => {
  const status = podStatus(pod);
  return status.phase === "Running" && endingOf(pod) === undefined && conditionOf(status, "Ready")?.status === "False";
};

/** Where nodes are hidden: true when the node controller gave the pod up, and its node did not end it in its grace. */
export const isGivenUp = (pod: Stored, now: number): boolean => {
  const until = instantOf(pod.metadata.deletionTimestamp);
  return until !== undefined && until < now && isEnding(pod) && disruptionOf(podStatus(pod)) === "node";
};

/** True of a pod with a claim, to which it may still write: it is not replaced while its node is only silent. */
export const holdsClaims = (pod: Stored): boolean => {
  const { volumes = [] } = podSpec(pod);
  return volumes.some(
    ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim !== undefined || ephemeral !== undefined,
  );
};

/** The fate of an executor: freed now, at a time (epoch ms), when its node is certainly gone, or not at all. */
export type ExecutorRelease =
  | { readonly is: "free"; readonly why: string }
  | { readonly is: "wait"; readonly until: number }
  /** The node could not be read: it is read again. */
  | { readonly is: "ask" }
  | { readonly is: "bound" | "none" };

/** Time, ms, for which the node of an unready pod is read though hidden; by then the node controller has acted. */
const askedMs = 600_000;

const isNews = (pod: Stored, now: number): boolean => {
  const since = instantOf(conditionOf(podStatus(pod), "Ready")?.lastTransitionTime);
  return isSuspect(pod) && since !== undefined && now < since + askedMs;
};

type Bearing = { readonly now: number; readonly graceMs: number; readonly waits: boolean };

/** node's state × pod → fate. */
export const fateOf = (pod: Stored, state: NodeState, { now, graceMs, waits }: Bearing): ExecutorRelease => {
  switch (state.is) {
    case "answers":
      return { is: "none" };
    case "gone":
      return { is: "free", why: "its node is gone" };
    case "hidden":
      if (isGivenUp(pod, now)) return { is: "free", why: "its node was given up, and did not end it" };
      return { is: isNews(pod, now) ? "ask" : "none" };
    case "silent":
      if (waits || holdsClaims(pod)) return { is: "bound" };
      if (now < state.since + graceMs) return { is: "wait", until: state.since + graceMs };
      return { is: "free", why: "its node does not answer" };
  }
};

/** Losses on a node within `whileMs` for which it is avoided, as long after the last; one if it is about to go. */
const tooMany = 3;
const whileMs = 600_000;
/** The most nodes avoided at once: with more, the nodes are not the cause. */
const most = 8;

/** Losses that are no evidence against the node. */
const blameless: ReadonlySet<Loss["reason"]> = new Set([
  "finished",
  "dismissed",
  "preempted",
  "driverEnded",
  "deleted",
]);

const going = "its node goes at ";

/** The reason of an executor that ends because its node goes at this time (epoch ms). */
export const goingAt = (at: number): string => `${going}${timeText(at)}`;

/** The time at which the node of a loss goes, epoch ms: it accepts pods until then, also when no noticed pod is left. */
const goesAt = ({ reason, why }: Loss): number | undefined =>
  reason === "node" && why?.startsWith(going) === true ? instantOf(why.slice(going.length)) : undefined;

/** A node that is there this long after its end was not ended, or another machine has its name, ms. */
const overdueMs = 60_000;
/** The most nodes excluded at once, those that go first: each is in the spec of every new pod. */
const mostExcluded = 64;

/** True of an executor that runs without a notice. */
const isUnnoticed = (pod: Stored): boolean =>
  leavingAt(pod) === undefined && !isEnding(pod) && endingOf(pod) === undefined;

/**
 * Names of the nodes that are about to go, the next one first. Notices on pods tell of them, and the losses of executors
 * that were moved because of one. An executor there without a notice shows that the notice was taken back.
 */
export const closingNodes = (there: readonly Stored[], losses: readonly Loss[], now: number): readonly string[] => {
  const open = new Set(there.filter(isUnnoticed).flatMap((pod) => nodeNameOf(pod) ?? []));
  const noticed = there.map((pod) => ({ node: nodeNameOf(pod), at: leavingAt(pod) }));
  const moved = losses
    .map((loss) => ({ node: loss.node, at: goesAt(loss) }))
    .filter(({ node = "" }) => !open.has(node));
  const ends = new Map<string, number>();
  for (const { node, at } of [...noticed, ...moved])
    if (node !== undefined && at !== undefined && now < at + overdueMs)
      ends.set(node, Math.min(at, ends.get(node) ?? at));
  return [...ends]
    .sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))
    .slice(0, mostExcluded)
    .map(([node]) => node);
};

/** Names of the nodes to avoid, the worst first. */
export const avoidedNodes = (losses: readonly Loss[], now: number): readonly string[] => {
  const deaths = new Map<string, number>();
  for (const loss of losses) {
    const { node, reason, at } = loss;
    if (node !== undefined && at > now - whileMs && !blameless.has(reason))
      deaths.set(node, (deaths.get(node) ?? 0) + (goesAt(loss) === undefined ? 1 : tooMany));
  }
  const bad = [...deaths].filter(([, count]) => count >= tooMany);
  return bad
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, most)
    .map(([node]) => node);
};

const recordAt = (value: Json, name: string): Json => {
  const inner = value[name];
  return fieldsOf(inner);
};

const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

/** Adds a preference for other nodes: an executor on a bad node is better than none. */
const preferring = (spec: Json, nodes: readonly string[]): Json => {
  if (nodes.length === 0) return spec;
  const affinity = recordAt(spec, "affinity");
  const nodeAffinity = recordAt(affinity, "nodeAffinity");
  const others = nodeAffinity[preferred];
  const matchFields = nodes.map((node) => ({ key: "metadata.name", operator: "NotIn", values: [node] }));
  const term = { weight: 100, preference: { matchFields } };
  const terms = [...(Array.isArray(others) ? others : []), term];
  return { ...spec, affinity: { ...affinity, nodeAffinity: { ...nodeAffinity, [preferred]: terms } } };
};

/** Nodes that a new executor must not have, and those that it has only where no other takes it. */
export type Placement = { readonly closing: readonly string[]; readonly avoided: readonly string[] };

/** The pod on other nodes. A preference is not enough for a closing node: one of the user's may outweigh it. */
export const placedElsewhere = (pod: Obj, { closing, avoided }: Placement): Obj => {
  const others = avoided.filter((node) => !closing.includes(node));
  if (closing.length + others.length === 0) return pod;
  return { ...pod, spec: excluding(preferring(recordAt(pod, "spec"), others), closing) };
};
