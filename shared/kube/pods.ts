/**
 * Reads a pod: its phase, its containers and how they ended, why the platform took it, the notice that its node is
 * about to go, and whether an update of it can matter.
 */
import type { V1ContainerStateTerminated, V1PodSpec, V1PodStatus } from "@kubernetes/client-node";
import { fieldsOf, same } from "../core/json.ts";
import type { Obj, Resource, Stored } from "../core/object.ts";
import { instantOf } from "../core/time.ts";
import { type Part, typed, type Wire } from "./objects.ts";

/** A container that has ended, as its status says. */
export type Terminated = Wire<V1ContainerStateTerminated>;

export type PodSpec = Part<V1PodSpec>;
export type PodStatus = Part<V1PodStatus>;

export const podSpec = (pod: Obj | undefined): PodSpec => typed("Pod", pod).spec ?? {};

/** The pod spec of a template that nobody has checked; empty if it has none. */
export const podSpecIn = (template: unknown): Readonly<Record<string, unknown>> => fieldsOf(fieldsOf(template)["spec"]);

export const podStatus = (pod: Obj | undefined): PodStatus => typed("Pod", pod).status ?? {};

/** Label of what Rekindle creates for an application: its UID. */
export const appUidLabel = "rekindle.dev/app-uid";

export const labelOf = (object: Obj, label: string): string | undefined => object.metadata.labels?.[label];

/** True if all containers of the pod have ended for good. */
export const isOver = ({ phase }: PodStatus): boolean => phase === "Succeeded" || phase === "Failed";

/** True if the deletion has begun; the pod may still run through its grace period. */
export const isEnding = (object: Obj): boolean => object.metadata.deletionTimestamp !== undefined;

/**
 * Returns when the deletion of an object was requested, epoch ms. A pod's deletionTimestamp is the end of its grace
 * period. With a grace period of 0 it is the time of the last request: a kubelet's removal of a pod moves it (measured
 * on the API server: 15 s of grace from 08:01:35, removed at 08:01:36, then 0 s from 08:01:36).
 */
export const deletionAskedAt = ({ metadata }: Obj): number | undefined => {
  const at = instantOf(metadata.deletionTimestamp);
  return at === undefined ? undefined : at - (metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
};

/** A kubelet removes a pod under deletion within this time of the end of its containers, ms; usually within seconds. */
const removalMs = 60_000;

/**
 * True if the deletion of a pod was certainly requested after its containers ended at `finished`, epoch ms. A grace
 * period above 0 says that the deletion came first: the API server gives a pod in a terminal phase none. With a grace
 * period of 0 the times decide. They are those of the last deletion, which may be the kubelet's own after the
 * containers ended. A pod that ended shortly before it counts as deleted first, because work done twice is better than
 * work never done.
 */
export const endedFirst = (pod: Obj, finished: number | undefined): boolean => {
  const { deletionGracePeriodSeconds: grace = 0 } = pod.metadata;
  const deletion = deletionAskedAt(pod);
  return grace === 0 && finished !== undefined && deletion !== undefined && finished + removalMs < deletion;
};

/** Returns how the named container ended; undefined if it did not. */
export const terminationOf = (pod: PodStatus, name: string): Terminated | undefined =>
  pod.containerStatuses?.find((one) => one.name === name)?.state?.terminated;

/**
 * Returns when the first container of the pod started, epoch ms; undefined while none has. A pod whose containers show no
 * time counts from its own start.
 */
export const startedAt = (pod: Obj): number | undefined => {
  const { phase, startTime, containerStatuses } = podStatus(pod);
  const states = (containerStatuses ?? []).map(({ state }) => state?.running ?? state?.terminated);
  const starts = states.flatMap((state) => instantOf(state?.startedAt) ?? []);
  if (starts.length > 0) return Math.min(...starts);
  return phase === "Running" || states.some((state) => state !== undefined) ? instantOf(startTime) : undefined;
};

/** Returns the condition of this type, if the pod has it. */
export const conditionOf = ({ conditions }: PodStatus, type: string) => conditions?.find((one) => one.type === type);

/** True if the pod runs, is ready, and is not under deletion. */
export const isReady = (pod: Obj): boolean => {
  const status = podStatus(pod);
  return status.phase === "Running" && conditionOf(status, "Ready")?.status === "True" && !isEnding(pod);
};

/** True if the pod is ready or has ended: Kueue's waitForPodsReady waits for it no longer. */
export const hasBeenReady = (pod: Obj): boolean => isReady(pod) || isOver(podStatus(pod));

/** Returns the name of the node that the pod is bound to. */
export const nodeNameOf = (pod: Obj): string | undefined => {
  const { nodeName = "" } = podSpec(pod);
  return nodeName === "" ? undefined : nodeName;
};

/** Returns why a pod is not running yet, in the scheduler's words or by a container's waiting reason. */
export const waitingReason = (pod: PodStatus): string | undefined => {
  const unscheduled = pod.conditions?.find((one) => one.type === "PodScheduled" && one.status === "False");
  if (unscheduled !== undefined) return [unscheduled.reason, unscheduled.message].filter(Boolean).join(": ");
  const waiting = pod.containerStatuses?.find((one) => one.state?.waiting !== undefined)?.state?.waiting;
  return waiting === undefined ? undefined : [waiting.reason, waiting.message].filter(Boolean).join(": ");
};

/** True if an owner reference has this UID; a label alone proves nothing. */
export const ownedBy = (object: Obj, uid: string): boolean =>
  object.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;

/** For views by label: false for a pod without an owner, and for one of another object of this kind. */
export const mayBelongTo = (
  { metadata: { ownerReferences = [] } }: Obj,
  { group, kind }: Pick<Resource, "group" | "kind">,
  own: string,
): boolean =>
  ownerReferences.some(
    (owner) => owner.kind !== kind || !owner.apiVersion.startsWith(`${group}/`) || owner.uid === own,
  );

/** Sorts by name, so that all readers have the same order. */
export const inOrder = (objects: readonly Stored[]): readonly Stored[] =>
  [...objects].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));

export type Disruption = "preempted" | "evicted" | "node";

const byReason: Readonly<Record<string, Disruption>> = {
  PreemptionByScheduler: "preempted",
  PreemptionByKubeScheduler: "preempted",
  Preempting: "preempted",
  Preempted: "preempted",
  EvictionByEvictionAPI: "evicted",
  DeletionByTaintManager: "node",
  DeletionByPodGC: "node",
  TerminationByKubelet: "evicted",
  Evicted: "evicted",
  NodeLost: "node",
  NodeShutdown: "node",
  NodeAffinity: "node",
  Terminated: "node",
  Shutdown: "node",
  UnexpectedAdmissionError: "node",
  OutOfcpu: "node",
  OutOfmemory: "node",
  OutOfpods: "node",
};

const conditionReason = ({ conditions }: PodStatus): string =>
  conditions?.find(({ type, status }) => type === "DisruptionTarget" && status === "True")?.reason ?? "";

/** Reads the condition, which the component that disrupts the pod writes. */
export const disruptionOf = (status: PodStatus): Disruption | undefined => byReason[conditionReason(status)];

/** Reads the reason of the status, which the kubelet and the node lifecycle controller write. */
export const statusDisruption = ({ reason }: PodStatus): Disruption | undefined => byReason[reason ?? ""];

/** True if spec, labels, annotations or deletion have changed. Status writes come from Rekindle itself. */
export const changed = (before: Obj | undefined, after: Obj): boolean =>
  before === undefined ||
  before.metadata.uid !== after.metadata.uid ||
  before.metadata.generation !== after.metadata.generation ||
  isEnding(before) !== isEnding(after) ||
  !same(before.metadata.annotations, after.metadata.annotations) ||
  !same(before.metadata.labels, after.metadata.labels);

/** The value is the time at which the node goes, in RFC 3339. */
export const leavingAnnotation = "rekindle.dev/leaving";

/** Returns when the pod's node goes, epoch ms; undefined without a notice, or if its value is no time. */
export const leavingAt = (pod: Obj): number | undefined => instantOf(pod.metadata.annotations?.[leavingAnnotation]);
