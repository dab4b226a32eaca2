/** Why a run failed, as a word; and which of these are the platform's doing and not the application's. */
import type { Stored } from "../../../core/object.ts";
import { disruptionOf, statusDisruption } from "../../../kube/disruption.ts";
import { podStatus, terminationOf, waitingReason } from "../../../kube/pods.ts";
import type { Cause } from "../memory.ts";
import { driverContainer, isCutShort } from "./evidence.ts";

/** cause → whether a retry is spent on it where `rekindle.dev/restart-on: infrastructure` stands. */
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

/** Causes that we have judged, while pods of the run may still live: they are ended. */
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

/** Why a driver's pod failed; undefined: it is gone, and nobody can say who took it. */
export const causeOf = (pod: Stored | undefined): Cause => {
  if (pod === undefined) return "deleted";
  const status = podStatus(pod);
  const disrupted = disruptionOf(status);
  if (disrupted !== undefined) return disrupted;
  if (isCutShort(pod)) return "deleted";
  if (terminationOf(status, driverContainer) !== undefined) return "application";
  return statusDisruption(status) ?? "application";
};

/** Why a pod has not come up in time. */
export const delayOf = (pod: Stored | undefined, otherwise: "driverStart" | "executorStart"): Cause => {
  const why = pod === undefined ? "" : (waitingReason(podStatus(pod)) ?? "");
  if (/^(ErrImagePull|ImagePullBackOff|ImageInspectError|RegistryUnavailable)\b/.test(why)) return "imagePull";
  return /^Unschedulable\b/.test(why) ? "unschedulable" : otherwise;
};
