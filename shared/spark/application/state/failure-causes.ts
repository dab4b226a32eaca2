/** The causes of failed runs, and whether each is the application's fault or the platform's. */
import type { Stored } from "../../../core/object.ts";
import { disruptionOf, statusDisruption } from "../../../kube/disruption.ts";
import { podStatus, terminationOf, waitingReason } from "../../../kube/pods.ts";
import { driverContainer, isCutShort } from "./evidence.ts";
import type { Cause } from "./memory.ts";

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
