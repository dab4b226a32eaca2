/** Executor states in the status: by pod, and without a pod by the application's own phase. */
import type { Stored } from "../../../core/object.ts";
import { podStatus } from "../../../kube/pods.ts";
import { idsOf, listOfIds } from "../../executors/ids.ts";
import type { Ledger } from "../../executors/ledger.ts";
import type { Phase } from "./memory.ts";

export type ExecutorState = "PENDING" | "RUNNING" | "COMPLETED" | "FAILED" | "UNKNOWN";

const byPhase: Readonly<Record<string, ExecutorState>> = {
  Pending: "PENDING",
  Running: "RUNNING",
  Succeeded: "COMPLETED",
  Failed: "FAILED",
};

/** States that never change again. */
export type Finished = Extract<ExecutorState, "COMPLETED" | "FAILED">;

export const isFinished = (state: string): state is Finished => state === "COMPLETED" || state === "FAILED";

/** The state in an executor's pod. */
export const stateOf = (pod: Stored): ExecutorState => byPhase[podStatus(pod).phase ?? ""] ?? "UNKNOWN";

/** The id in the name of an executor's pod. */
export const idIn = (name: string): number | undefined => {
  const [, id] = /-exec-(\d{1,9})$/.exec(name) ?? [];
  return id === undefined ? undefined : Number(id);
};

/** Phases in which executors may still run: a list that lacks them may be from before they came. */
const underWay: ReadonlySet<Phase> = new Set(["SUBMITTED", "RUNNING", "UNKNOWN"]);

/**
 * The state of an executor whose pod is gone, as upstream's getAndUpdateExecutorState: by the application's own phase.
 * Upstream ends it under SUBMITTED and UNKNOWN, too; an end is final, so none is shown here that may not have come.
 */
const ofMissing = (phase: Phase): ExecutorState => {
  if (underWay.has(phase)) return "UNKNOWN";
  return phase === "COMPLETED" || phase === "SUCCEEDING" ? "COMPLETED" : "FAILED";
};

/** Ends by the ids of the executors. */
export type Ends = ReadonlyMap<number, Finished>;

/** The remembered ends that the status may not show yet. */
export const endsIn = ({ ends = {} }: Pick<Ledger, "ends">): Ends =>
  new Map(
    (["COMPLETED", "FAILED"] as const).flatMap((state) =>
      listOfIds(idsOf(ends[state] ?? "")).map((id): [number, Finished] => [id, state]),
    ),
  );

export type Shown = {
  readonly phase: Phase;
  /** The highest id that is shown (upstream's maxTrackedExecutorPerApp, 1000). */
  readonly limit: number;
  /** Ends that were seen and that the status does not show yet. */
  readonly ends: Ends;
};

/**
 * pod name → state. `before` holds the status's last states: an executor whose pod is gone keeps its end, and so does
 * one that a list from before its end still shows alive, because no name is used twice. Only the first executors by id
 * are kept.
 */
export const executorStates = (
  pods: readonly Stored[],
  before: Readonly<Record<string, string>>,
  { phase, limit, ends }: Shown,
): Readonly<Record<string, string>> => {
  const tracked = pods.filter((pod) => Number(pod.metadata.labels?.["spark-exec-id"] ?? 0) <= limit);
  const now = tracked.map((pod): [string, string] => {
    const { name } = pod.metadata;
    const shown = stateOf(pod);
    const known = before[name] ?? "";
    return [name, isFinished(known) && !isFinished(shown) ? known : shown];
  });
  const present = new Set(now.map(([name]) => name));
  const gone = Object.entries(before)
    .filter(([name]) => !present.has(name))
    .map(([name, state]): [string, string] => [
      name,
      isFinished(state) ? state : (ends.get(idIn(name) ?? 0) ?? ofMissing(phase)),
    ]);
  return Object.fromEntries([...gone, ...now].sort(([a], [b]) => (a < b ? -1 : 1)));
};
