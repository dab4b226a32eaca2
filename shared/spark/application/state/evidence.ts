/** Sorts the pods with the application's name by owner, reads the driver's evidence from its pod, and finds the cause of a failed
 * run: whether it is the application's fault or the platform's. */

import type { Stored } from "../../../core/object.ts";
import { instantOf } from "../../../core/time.ts";
import {
  disruptionOf,
  inOrder,
  isEnding,
  isOver,
  labelOf,
  ownedBy,
  podStatus,
  statusDisruption,
  terminationOf,
  waitingReason,
} from "../../../kube/pods.ts";
import { mayBeEndedByDeletion } from "../../executors/losses.ts";
import { sparkApplications } from "../../schema/resource.ts";
import type { Cause, Driver } from "./memory.ts";

/** Evidence of the current attempt's driver pod. `absent`: never seen. `lost`: seen before, and certainly gone. */
export type Evidence = "absent" | "pending" | "running" | "completed" | "failed" | "unknown" | "lost";

/** Stands for the UID of a driver known only from a status: the pod with its submission id is the driver. */
export const adoptedUid = "adopted";

export const submissionLabel = "sparkoperator.k8s.io/submission-id";

export const driverContainer = "spark-kubernetes-driver";

/** The pods of an application, sorted. */
export type Pods = {
  readonly driver: Stored | undefined;
  readonly executors: readonly Stored[];
  /** Pods of a past attempt, or a second pod of the driver: they are deleted, and never counted. */
  readonly strays: readonly Stored[];
  readonly all: readonly Stored[];
};

const isDriver = (pod: Stored, driver: Driver): boolean =>
  labelOf(pod, "spark-role") === "driver" &&
  (driver.uid === undefined || driver.uid === adoptedUid || driver.uid === pod.metadata.uid);

/** True when another application owns the pod. */
const isAnothers = ({ metadata: { ownerReferences = [] } }: Stored, own: string): boolean =>
  ownerReferences.some(({ kind, uid }) => kind === sparkApplications.kind && uid !== own);

/** True when the pod with the driver's name is the driver; `own` is the application's UID. */
export const isBody = (pod: Stored, own: string, { uid }: Driver): boolean =>
  uid === undefined || uid === adoptedUid ? ownedBy(pod, own) : pod.metadata.uid === uid && !isAnothers(pod, own);

/** The UIDs of possible owners: the application, and any of its drivers, because a driver owns executors. */
const ownersOf = (pods: readonly Stored[], uid: string, driver: Driver | undefined): readonly string[] => {
  const bodies = pods.filter((pod) => ownedBy(pod, uid) && labelOf(pod, "spark-role") === "driver");
  return [uid, ...(driver?.uid === undefined ? [] : [driver.uid]), ...bodies.map((pod) => pod.metadata.uid)];
};

export const sortOut = (pods: readonly Stored[], uid: string, driver: Driver | undefined): Pods => {
  const owners = ownersOf(pods, uid, driver);
  const all = inOrder(pods.filter((pod) => owners.some((owner) => ownedBy(pod, owner))));
  if (driver === undefined) return { driver: undefined, executors: [], strays: all, all };
  const current = all.filter((pod) => labelOf(pod, submissionLabel) === driver.submissionId);
  const body = current.find((pod) => isDriver(pod, driver));
  const executors = current.filter((pod) => labelOf(pod, "spark-role") === "executor");
  const known = new Set(body === undefined ? executors : [...executors, body]);
  return { driver: body, executors, strays: all.filter((pod) => !known.has(pod)), all };
};

/**
 * True when the driver ended only after the deletion of its pod was requested, or when that cannot be ruled out: a run
 * done twice is better than a run never done. Kubelets write the terminal phase of such a pod a moment before they
 * remove it, and its exit code (0, 137, 143) says nothing of its work: the driver was deleted, whether a step sees that
 * moment or finds the pod gone. Unlike upstream, which takes an exit code of 0 for success.
 */
const isCutShort = (pod: Stored): boolean => {
  const status = podStatus(pod);
  const ended = terminationOf(status, driverContainer);
  if (ended === undefined && !isOver(status)) return false;
  return ended?.reason !== "OOMKilled" && statusDisruption(status) === undefined && mayBeEndedByDeletion(pod, ended);
};

/** The driver pod's evidence: its phase, but the driver container's end goes before sidecars. As upstream's. */
export const evidenceOf = (pod: Stored): Exclude<Evidence, "absent" | "lost"> => {
  const status = podStatus(pod);
  const ended = terminationOf(status, driverContainer);
  if (isCutShort(pod)) return "failed";
  switch (status.phase) {
    case "Pending":
      return "pending";
    case "Running":
      return ended === undefined ? "running" : ended.exitCode === 0 ? "completed" : "failed";
    case "Succeeded":
      return "completed";
    case "Failed":
      return ended?.exitCode === 0 ? "completed" : "failed";
    default:
      return "unknown";
  }
};

/** The error of a failed driver, in upstream's words where it has them. */
export const failureOf = (pod: Stored): string => {
  const status = podStatus(pod);
  const ended = terminationOf(status, driverContainer);
  // The same words as for a pod that is gone: it is chance which of the two a step sees.
  if (isCutShort(pod)) return "driver pod not found";
  if (ended !== undefined)
    return `driver container failed with ExitCode: ${ended.exitCode}, Reason: ${ended.reason ?? "Error"}`;
  const why = [status.reason, status.message].filter(Boolean).join(": ");
  return why === "" ? "driver container status missing" : why;
};

/** End of the driver container, epoch ms, if the pod still shows it. */
export const endOf = (pod: Stored): number | undefined =>
  instantOf(terminationOf(podStatus(pod), driverContainer)?.finishedAt);

/** The pods that are not being deleted. */
export const notDeleted = (pods: readonly Stored[]): readonly Stored[] => pods.filter((pod) => !isEnding(pod));

/** cause → true when it spends a retry under `rekindle.dev/restart-on: infrastructure`. */
export const spendsRetry: Readonly<Record<Cause, boolean>> = {
  application: true,
  deleted: false,
  preempted: false,
  evicted: false,
  node: false,
  imagePull: false,
  unschedulable: false,
  driverStart: true,
  executorStart: true,
  executorsGone: false,
  driverHung: true,
  unreachable: false,
};

/** cause → true when Rekindle gave the run up while its pods may still run: they are deleted. */
export const judged: Readonly<Record<Cause, boolean>> = {
  application: false,
  deleted: false,
  preempted: false,
  evicted: false,
  node: false,
  imagePull: true,
  unschedulable: true,
  driverStart: true,
  executorStart: true,
  executorsGone: true,
  driverHung: true,
  unreachable: true,
};

/** The cause of a driver's failure; "deleted" when the pod is gone, because its deleter is unknown. */
export const causeOf = (pod: Stored | undefined): Cause => {
  if (pod === undefined) return "deleted";
  const status = podStatus(pod);
  const disrupted = disruptionOf(status);
  if (disrupted !== undefined) return disrupted;
  if (isCutShort(pod)) return "deleted";
  if (terminationOf(status, driverContainer) !== undefined) return "application";
  return statusDisruption(status) ?? "application";
};

/** The cause why a pod has not come up in time. */
export const delayOf = (pod: Stored | undefined, otherwise: "driverStart" | "executorStart"): Cause => {
  const why = pod === undefined ? "" : (waitingReason(podStatus(pod)) ?? "");
  if (/^(ErrImagePull|ImagePullBackOff|ImageInspectError|RegistryUnavailable)\b/.test(why)) return "imagePull";
  return /^Unschedulable\b/.test(why) ? "unschedulable" : otherwise;
};
