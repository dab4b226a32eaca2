/**
 * Pods on nodes that do not answer. A driver there may still be writing, so Rekindle waits until its node answers or is
 * certainly gone, unless its user sets a time. No kubelet is there to end such a pod gracefully: it is force-deleted,
 * under the rules for executors of a run that goes on.
 */

import { spanText } from "../../../core/annotation.ts";
import type { Reads } from "../../../core/decision.ts";
import type { Stored } from "../../../core/object.ts";
import type { Effect } from "../../../core/plan.ts";
import { instantOf } from "../../../core/time.ts";
import type { WaitingOn } from "../../../core/waiting-on.ts";
import { labelOf, nodeNameOf } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import { type Fate, fateOf, isGivenUp, isSuspect, type NodeState } from "../../executors/nodes.ts";
import { statesOf } from "../executors/repair.ts";
import type { ApplicationContext } from "../run/context.ts";
import { driverLateness, type End, executorLateness, type Lateness } from "../run/failure.ts";
import { spans } from "../spec/annotations.ts";
import type { Evidence, Pods } from "../state/evidence.ts";
import type { Driver } from "../state/memory.ts";

const nodeOf = (pod: Stored): string => nodeNameOf(pod) ?? "";

/** The consequence of a driver's node: a deadline, or the node that the run waits for. */
type Stranding = { readonly late: Lateness; readonly says?: WaitingOn };

const lost = ({ view }: ApplicationContext, error: string): Stranding => ({
  late: { is: "late", end: { endedAt: view.now, error, cause: "unreachable" } satisfies End },
});

/** The time since which the node is silent, epoch ms; where nodes may not be read, the end of the pod's grace. */
const silentSince = (pod: Stored, state: NodeState, now: number): number | undefined => {
  if (state.is === "silent") return state.since;
  return state.is === "hidden" && isGivenUp(pod, now) ? instantOf(pod.metadata.deletionTimestamp) : undefined;
};

const judgedBy = (context: ApplicationContext, pod: Stored, state: NodeState): Stranding => {
  const { driverNodeMs } = context.policies;
  const node = nodeOf(pod);
  if (state.is === "gone") return lost(context, `driver lost: its node ${node} is gone`);
  const since = silentSince(pod, state, context.view.now);
  if (since === undefined) return { late: undefined };
  const says = { on: "node", name: node, silentSince: since } as const;
  if (driverNodeMs === undefined) return { late: undefined, says: { ...says, endedBy: spans.driverNodeMs.annotation } };
  const until = since + driverNodeMs;
  if (context.view.now < until) return { late: { is: "waiting", until }, says };
  return lost(context, `driver lost: its node ${node} has not answered for ${spanText(driverNodeMs)}`);
};

/** The stranding of a driver that runs as far as its pod shows. */
function* driverStranding(context: ApplicationContext, pod: Stored): Reads<Stranding> {
  if (!isSuspect(pod)) return { late: undefined };
  const states = yield* statesOf([pod]);
  const state = states.get(nodeOf(pod));
  return state === undefined ? { late: undefined } : judgedBy(context, pod, state);
}

type Run = { readonly driver: Driver; readonly found: Pods };

/** Checks whether a run comes up, and its driver's node answers, in time. Executors of a silent driver may be late. */
export function* delayed(
  context: ApplicationContext,
  { driver, found }: Run,
  { see, pod }: { readonly see: Evidence; readonly pod: Stored | undefined },
): Reads<Stranding> {
  if (see === "pending") return { late: driverLateness(context, driver, pod) };
  if (see !== "running" || pod === undefined) return { late: undefined };
  const stranding = yield* driverStranding(context, pod);
  const isHeard = stranding.late === undefined && stranding.says === undefined;
  return isHeard ? { late: executorLateness(context, driver, found, pod) } : stranding;
}

/** True when the pod's grace ended longer ago than an answering node needs to report the end. */
const isOverdue = (pod: Stored, { view, policies }: ApplicationContext): boolean =>
  (instantOf(pod.metadata.deletionTimestamp) ?? Number.POSITIVE_INFINITY) + policies.nodeGraceMs < view.now;

const fateIn = (context: ApplicationContext, pod: Stored, state: NodeState): Fate => {
  const { view, policies } = context;
  const { driverNodeMs, nodeGraceMs, unreachableExecutors } = policies;
  const isDriver = labelOf(pod, "spark-role") === "driver";
  const waits = isDriver ? driverNodeMs === undefined : unreachableExecutors === "wait";
  if (isDriver && waits && state.is === "hidden") return { is: "bound" };
  return fateOf(pod, state, { now: view.now, graceMs: isDriver ? (driverNodeMs ?? nodeGraceMs) : nodeGraceMs, waits });
};

export type UnreachablePods = {
  /** Pods that are force-deleted, at the resourceVersion that was read. */
  readonly freed: ReadonlySet<Stored>;
  readonly ends: readonly Effect[];
  /** The time at which one more pod may be force-deleted, epoch ms. */
  readonly wakeAt?: number;
  /** Pods that wait for their node, as text. */
  readonly says?: string;
};

const forced = ({ metadata }: Stored): Effect => {
  const { name, namespace, uid, resourceVersion } = metadata;
  const ref = { resource: pods, name, ...(namespace === undefined ? {} : { namespace }) };
  return { do: "delete", ref, uid, resourceVersion, graceSeconds: 0 };
};

/** Finds the pods of a cleared run that no node will end. */
export function* unreachableAmong(context: ApplicationContext, left: readonly Stored[]): Reads<UnreachablePods> {
  const suspects = left.filter((pod) => isSuspect(pod) || isOverdue(pod, context));
  const states = yield* statesOf(suspects);
  const fates = suspects.flatMap((pod) => {
    const state = states.get(nodeOf(pod));
    return state === undefined ? [] : [{ pod, fate: fateIn(context, pod, state) }];
  });
  const free = fates.flatMap(({ pod, fate }) => (fate.is === "free" ? [pod] : []));
  const until = fates.flatMap(({ fate }) => (fate.is === "wait" ? [fate.until] : []));
  const bound = fates.flatMap(({ pod, fate }) =>
    fate.is === "bound" ? [`${pod.metadata.name} (node ${nodeOf(pod)} does not answer)`] : [],
  );
  return {
    freed: new Set(free),
    ends: free.map(forced),
    ...(until.length === 0 ? {} : { wakeAt: Math.min(...until) }),
    ...(bound.length === 0 ? {} : { says: bound.slice(0, 3).join(", ") }),
  };
}
