/** Executor states as the status shows them: by pod, and for those that are gone by what became of the application. */
import type { Stored } from "../../core/object.ts";
import { podStatus } from "../../kube/pods.ts";
import type { Phase } from "./memory.ts";

export type ExecutorState = "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "UNKNOWN";

const byPhase: Readonly<Record<string, ExecutorState>> = {
  Pending: "PENDING",
  Running: "RUNNING",
  Succeeded: "COMPLETED",
  Failed: "FAILED",
};

const final: ReadonlySet<string> = new Set(["COMPLETED", "FAILED"]);

/** The driver may live, and so may its executors: a list that lacks them may be from before they came. */
const underWay: ReadonlySet<Phase> = new Set(["SUBMITTED", "RUNNING", "UNKNOWN"]);

/**
 * An executor whose pod is gone, as upstream's getAndUpdateExecutorState: by the application's own state. Upstream ends it
 * under SUBMITTED and UNKNOWN, too; but an end is for good, and here none is told that may not have come.
 */
const ofMissing = (phase: Phase): ExecutorState => {
  if (underWay.has(phase)) return "UNKNOWN";
  return phase === "COMPLETED" || phase === "SUCCEEDING" ? "COMPLETED" : "FAILED";
};

/**
 * pod name → state. `before` is what the status said last: an executor whose pod is gone keeps its end, and so does one
 * that a list from before its end still shows alive, for no name is used twice. Only the first `limit` executors by id
 * are kept (upstream's maxTrackedExecutorPerApp, 1000).
 */
export const executorStates = (
  pods: readonly Stored[],
  before: Readonly<Record<string, string>>,
  phase: Phase,
  limit: number,
): Readonly<Record<string, string>> => {
  const tracked = pods.filter((pod) => Number(pod.metadata.labels?.["spark-exec-id"] ?? 0) <= limit);
  const now = tracked.map((pod): [string, string] => {
    const { name } = pod.metadata;
    const shown = byPhase[podStatus(pod).phase ?? ""] ?? "UNKNOWN";
    const known = before[name] ?? "";
    return [name, final.has(known) && !final.has(shown) ? known : shown];
  });
  const present = new Set(now.map(([name]) => name));
  const gone = Object.entries(before)
    .filter(([name]) => !present.has(name))
    .map(([name, state]): [string, string] => [name, final.has(state) ? state : ofMissing(phase)]);
  return Object.fromEntries([...gone, ...now].sort(([a], [b]) => (a < b ? -1 : 1)));
};
