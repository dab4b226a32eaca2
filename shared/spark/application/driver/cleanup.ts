/**
 * Deletes the leftovers of an attempt by UID, and goes on only when they are gone. A driver on a node that does not
 * answer may still be writing, so Rekindle waits until its node answers or is certainly gone, unless its user sets a
 * time. No kubelet is there to end such a pod gracefully: it is force-deleted, under the rules for executors of a run
 * that goes on.
 */

import { spanText } from "../../../core/annotation.ts";
import { all, type Decision, get, list, type Reads } from "../../../core/decision.ts";
import type { Ref, Stored } from "../../../core/object.ts";
import { type Effect, type Next, onLiveReads, type Plan } from "../../../core/plan.ts";
import { counted } from "../../../core/text.ts";
import { instantOf, timeText } from "../../../core/time.ts";
import { until, type WaitingOn } from "../../../core/waiting-on.ts";
import { judgedRemoval } from "../../../kube/history.ts";
import { workloads } from "../../../kube/kueue.ts";
import { deletionAskedAt, isEnding, labelOf, nodeNameOf, ownedBy } from "../../../kube/pods.ts";
import { pods as podResource, pods } from "../../../kube/resources.ts";
import { type ExecutorRelease, fateOf, isGivenUp, isSuspect, type NodeState } from "../../executors/nodes.ts";
import { statesOf } from "../../executors/repair.ts";
import { podsOf } from "../../schema/pod-query.ts";
import {
  type ApplicationContext,
  bodyOf,
  isMadeFor,
  leftoversOf,
  readPods,
  removal,
  settledAt,
} from "../run/context.ts";
import { driverLateness, type End, executorLateness, type Lateness, planOf } from "../run/plan.ts";
import { spans } from "../spec/policies.ts";
import { adoptedUid, type Evidence, notDeleted, type Pods } from "../state/evidence.ts";
import type { Driver, Memory } from "../state/memory.ts";

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

const fateIn = (context: ApplicationContext, pod: Stored, state: NodeState): ExecutorRelease => {
  const { view, policies } = context;
  const { driverNodeMs, nodeGraceMs, unreachableExecutors } = policies;
  const isDriver = labelOf(pod, "spark-role") === "driver";
  const waits = isDriver ? driverNodeMs === undefined : unreachableExecutors === "wait";
  if (isDriver && waits && state.is === "hidden") return { is: "bound" };
  return fateOf(pod, state, { now: view.now, graceMs: isDriver ? (driverNodeMs ?? nodeGraceMs) : nodeGraceMs, waits });
};

type UnreachablePods = {
  /** Pods that are force-deleted, at the resourceVersion that was read. */
  readonly freed: ReadonlySet<Stored>;
  readonly ends: readonly Effect[];
  /** The time at which one more pod may be force-deleted, epoch ms. */
  readonly wakeAt?: number;
  /** Pods that wait for their node, as text. */
  readonly says?: string;
};

const forced = (pod: Stored): Effect => ({ ...judgedRemoval(pods, pod), graceSeconds: 0 });

/** Finds the pods of a cleared run that no node will end. */
function* unreachableAmong(context: ApplicationContext, left: readonly Stored[]): Reads<UnreachablePods> {
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

/** Poll interval, ms. An event usually reports the end of a pod; the poll covers a lost event. */
const pollMs = 15_000;

/** The list may be behind: a remembered driver that is not listed is read by name before it counts as ended. */
function* remaining({ key, view, memory }: ApplicationContext, found: Pods): Reads<readonly Stored[]> {
  if (found.all.length > 0 || memory.driver === undefined) return found.all;
  const pod = yield* get(bodyOf(key, memory.driver));
  return pod !== undefined && ownedBy(pod, view.uid) ? [pod] : [];
}

/** Remembers the driver's UID: once the driver is gone, only the UID identifies its executors. */
const knowing = (memory: Memory, { driver: body }: Pods): Memory => {
  const { driver } = memory;
  if (driver === undefined || body === undefined) return memory;
  if (driver.uid !== undefined && driver.uid !== adoptedUid) return memory;
  return { ...memory, driver: { ...driver, uid: body.metadata.uid } };
};

const timeOf = ({ wakeAt }: UnreachablePods): { readonly wakeAt?: number } => (wakeAt === undefined ? {} : { wakeAt });

type Attempt = {
  readonly found: Pods;
  /** Owned objects beside the pods. */
  readonly others: readonly { readonly object: Stored; readonly resource: Ref["resource"] }[];
};

/** Reads all objects of earlier attempts, as far as lists show them. */
export function* readAttempt(context: ApplicationContext): Reads<Attempt> {
  const leftovers = leftoversOf(context);
  const [found, lists] = yield* all([readPods(context), all(leftovers.map(list))]);
  const others = leftovers.flatMap(({ resource }, index) => {
    const mine = (lists[index] ?? []).filter((object) => isMadeFor(object, resource, context.view.uid));
    return mine.map((object) => ({ object, resource }));
  });
  return { found, others };
}

type AfterAttempt = (context: ApplicationContext) => Plan<Memory>;

function* clearing(context: ApplicationContext, then: AfterAttempt): Decision<Memory> {
  const { found, others } = yield* readAttempt(context);
  const left = yield* remaining(context, found);
  if (left.length === 0 && others.length === 0) return then(context);
  const stranded = yield* unreachableAmong(context, left);
  const answering = notDeleted(left).filter((pod) => !stranded.freed.has(pod));
  // The quota of growths is given back only when no pod is left that uses it.
  const isFree = ({ object, resource }: Attempt["others"][number]): boolean =>
    !isEnding(object) && (resource !== workloads || left.length === 0);
  const stage = [
    ...stranded.ends,
    ...answering.map((pod) => removal(pod, podResource)),
    ...others.filter(isFree).map(({ object, resource }) => removal(object, resource)),
  ];
  const next: Next =
    left.length === 0 && stage.length > 0
      ? { do: "again" }
      : {
          do: "wait",
          pollMs,
          ...timeOf(stranded),
          waitsFor: { on: "leftovers", objects: left.length + others.length, stranded: stranded.says },
        };
  return planOf(context, knowing(context.memory, found), { ...found, all: left }, { stages: [stage], next });
}

/** Deletes all objects of earlier attempts, on live reads. `then` decides once none is left. */
export function* clearAttempt(context: ApplicationContext, then: AfterAttempt): Decision<Memory> {
  return onLiveReads(yield* clearing(context, then));
}

/** The wait for the pods of an application that is deleted, as the next one of its name sees it: the driver is named first. */
const earlierPods = (left: readonly Stored[]): WaitingOn => {
  const isDriver = (pod: Stored): boolean => labelOf(pod, "spark-role") === "driver";
  const [first] = left.toSorted((a, b) => Number(isDriver(b)) - Number(isDriver(a)));
  if (first === undefined) return until("the pods of the earlier application", "ended");
  const more = left.length === 1 ? "" : ` and ${counted(left.length - 1, "further pod")}`;
  const at = deletionAskedAt(first);
  const role = isDriver(first) ? "driver" : "executor";
  const of = `the ${role} pod ${first.metadata.name}${more} of the earlier application`;
  return until(of, "ended", at === undefined ? undefined : `Terminating since ${timeText(at)}`);
};

/** Ends the pods of a deleted application, and the record once no creation can arrive any more. */
export function* windDown(context: Omit<ApplicationContext, "object" | "read" | "policies">): Decision<Memory> {
  const { key, view, memory, settings } = context;
  const pods = yield* list(podsOf(key));
  const left = pods.filter((pod) => ownedBy(pod, view.uid) || ownedBy(pod, memory.driver?.uid ?? ""));
  const ends: readonly Effect[] = notDeleted(left).map((pod) => removal(pod, podResource));
  if (left.length > 0)
    return {
      memory,
      stages: [ends],
      next: { do: "wait", pollMs, waitsFor: earlierPods(left) },
    };
  const settled = settledAt({ memory, settings });
  if (view.now < settled)
    return {
      memory,
      stages: [],
      next: { do: "wait", wakeAt: settled, waitsFor: until("the last submission", "settled") },
    };
  return { memory, stages: [], next: { do: "forget" } };
}
