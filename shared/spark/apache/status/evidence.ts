/**
 * Reads from the pods of an attempt how its driver stands, and which state the number of its ready executors asks for.
 * The caller has chosen the pods: those of this application and of this attempt.
 */
import type { Stored } from "../../../core/object.ts";
import { isReady, podStatus, terminationOf } from "../../../kube/pods.ts";
import { mayBeEndedByDeletion } from "../../executors/losses.ts";
import type { Tolerations } from "../spec/read.ts";
import type { Summary } from "./summary.ts";

type End = Extract<Summary, "Succeeded" | "Failed" | "DriverEvicted">;

export type DriverEvidence =
  | { readonly is: "waiting" | "started" | "ready" }
  | { readonly is: "ended"; readonly as: End; readonly message?: string };

const isEvicted = (reason: string | undefined): boolean => reason?.toLowerCase() === "evicted";

/**
 * The end of a driver, whose main container decides: a sidecar that ends, well or badly, ends no application. A phase
 * decides where no container has a status: a pod that its node refused never shows one.
 */
const endOf = (pod: Stored, main: string): Extract<DriverEvidence, { is: "ended" }> | undefined => {
  const status = podStatus(pod);
  const ended = terminationOf(status, main);
  if (status.phase === "Failed" && isEvicted(status.reason)) return { is: "ended", as: "DriverEvicted" };
  if (ended !== undefined && mayBeEndedByDeletion(pod, ended))
    return { is: "ended", as: "Failed", message: "Driver pod was deleted before its program ended." };
  if (ended !== undefined) return { is: "ended", as: ended.exitCode === 0 ? "Succeeded" : "Failed" };
  if (status.phase === "Failed") return { is: "ended", as: "Failed" };
  if (status.phase === "Succeeded") return { is: "ended", as: "Succeeded" };
  const restarts = status.containerStatuses?.find(({ name }) => name === main)?.restartCount ?? 0;
  return restarts > 0 ? { is: "ended", as: "Failed", message: "Driver's main container was restarted." } : undefined;
};

/** How the driver stands. `main`: the name of the container whose end is the end of the application. */
export const evidenceOf = (pod: Stored, main: string): DriverEvidence => {
  const ended = endOf(pod, main);
  if (ended !== undefined) return ended;
  if (isReady(pod)) return { is: "ready" };
  const { containerStatuses = [] } = podStatus(pod);
  return { is: containerStatuses.some(({ name, ready }) => name === main && ready) ? "started" : "waiting" };
};

/**
 * The state that the number of ready executors asks for, in a state between DriverReady and the end. Without
 * initExecutors, minExecutors and maxExecutors have no effect.
 */
export const runningState = (
  before: Summary,
  executors: readonly Stored[],
  { init, min, max, dynamic }: Tolerations["executors"],
): Summary => {
  if (init <= 0) return "RunningHealthy";
  const ready = executors.filter(isReady).length;
  const full: Summary = !dynamic && max > 0 && ready < max ? "RunningWithPartialCapacity" : "RunningHealthy";
  if (before === "DriverReady" || before === "InitializedBelowThresholdExecutors") {
    if (ready >= init) return full;
    return ready > 0 ? "InitializedBelowThresholdExecutors" : before;
  }
  if (min <= 0) return "RunningHealthy";
  return ready >= min ? full : "RunningWithBelowThresholdExecutors";
};
