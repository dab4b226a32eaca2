/**
 * The reasons of lost executors, as a table: their meaning for the application's account, for the pod, and for the
 * allocator. A reason is what the pod still shows, otherwise `deleted` or `unknown`: never a guess.
 */
import { oncePer } from "../../core/cache.ts";
import type { Obj, Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import {
  type Disruption,
  deletionAskedAt,
  disruptionOf,
  endedFirst,
  isOver,
  labelOf,
  type PodStatus,
  podStatus,
  statusDisruption,
  type Terminated,
  terminationOf,
} from "../../kube/pods.ts";

/** The order is the table's; these words are stored and shown. */
export const lossReasons = [
  "finished",
  "failed",
  "killed",
  "memory",
  "disk",
  "disconnected",
  "terminated",
  "preempted",
  "evicted",
  "node",
  "deleted",
  "removed",
  "dismissed",
  "driverEnded",
  "neverStarted",
  "neverRegistered",
  "inactive",
  "unknown",
] as const;

export type LossReason = (typeof lossReasons)[number];

export type LossRow = {
  /** Counts against the application: its own fault, or too small a size. */
  readonly counts: boolean;
  /** The pod is kept for debugging until its retention is over; any other is deleted. */
  readonly keeps: boolean;
  /** `ask`: only after the driver says that the application goes on. */
  readonly replaced: "yes" | "no" | "ask";
  /** An event reports the loss, and the ledger keeps it in full; other losses are only counted. */
  readonly hasEvent: boolean;
  readonly means: string;
};

const ours = { counts: true, keeps: true, replaced: "yes", hasEvent: true } as const;
const theirs = { counts: false, keeps: false, replaced: "yes", hasEvent: true } as const;
const wanted = { counts: false, keeps: false, replaced: "no", hasEvent: false } as const;

/** reason → what follows from it. */
export const losses: Readonly<Record<LossReason, LossRow>> = {
  finished: { ...wanted, replaced: "ask", means: "it exited with 0" },
  failed: { ...ours, means: "its process exited with another status" },
  killed: { ...ours, means: "its process was killed (137), not for lack of memory" },
  memory: { ...ours, means: "it ran out of memory (OOMKilled), or its JVM did (52)" },
  disk: { ...theirs, keeps: true, means: "it could not create its local directories (53)" },
  disconnected: { ...theirs, means: "it lost its connection to the driver (56, 58)" },
  terminated: { ...theirs, means: "its process received SIGTERM (143) from an unknown sender" },
  preempted: { ...theirs, means: "it was preempted for another pod" },
  evicted: { ...theirs, means: "it was evicted" },
  node: { ...theirs, means: "its node is gone, shuts down, or does not answer" },
  deleted: { ...theirs, means: "its pod was deleted or vanished, and no reason is known" },
  removed: { ...wanted, replaced: "yes", means: "its pod is gone, and deleteOnTermination=true left no evidence" },
  dismissed: { ...wanted, means: "Rekindle ended it as surplus" },
  driverEnded: { ...wanted, means: "it ended with its driver" },
  neverStarted: { ...theirs, means: "its pod did not start in time, and was deleted" },
  neverRegistered: { ...theirs, means: "it ran, but never registered with the driver, and was deleted" },
  inactive: { ...theirs, means: "it ran, but the driver had given it up, and it was deleted" },
  unknown: { ...theirs, keeps: true, means: "its pod ended and gave no reason" },
};

/** Exit statuses with a meaning of their own, as in Spark's SparkExitCode and ExecutorExitCode. */
const exits: Readonly<Record<number, { readonly reason: LossReason; readonly words: string }>> = {
  0: { reason: "finished", words: "done" },
  1: { reason: "failed", words: "an error, often at its start" },
  50: { reason: "failed", words: "an uncaught exception" },
  51: { reason: "failed", words: "an uncaught exception that could not be logged" },
  52: { reason: "memory", words: "OutOfMemoryError" },
  53: { reason: "disk", words: "no local directory could be made" },
  56: { reason: "disconnected", words: "the driver took no heartbeats" },
  57: { reason: "failed", words: "ended by its task reaper" },
  58: { reason: "disconnected", words: "its blocks could not be registered again" },
  126: { reason: "failed", words: "its command cannot be run" },
  127: { reason: "failed", words: "its command does not exist" },
  134: { reason: "failed", words: "SIGABRT" },
  137: { reason: "killed", words: "SIGKILL" },
  139: { reason: "failed", words: "SIGSEGV" },
  143: { reason: "terminated", words: "SIGTERM" },
};

/** The words for an exit status, if it has any. */
export const exitWords = (code: number): string | undefined => exits[code]?.words;

const executorContainer = "spark-kubernetes-executor";

/** The end of the executor's container: by Spark's name, else the first that failed, else the first that ended. */
export const executorEnd = (status: PodStatus): Terminated | undefined => {
  const ends = (status.containerStatuses ?? []).flatMap(({ state }) => state?.terminated ?? []);
  const named = status.containerStatuses?.some(({ name }) => name === executorContainer) === true;
  if (named) return terminationOf(status, executorContainer);
  return ends.find(({ exitCode }) => exitCode !== 0) ?? (ends.length > 0 && isOver(status) ? ends[0] : undefined);
};

/** Exit statuses of a process that was told to end. */
const obeys: ReadonlySet<number> = new Set([0, 137, 143]);

/** True when a process ended because of its pod's deletion; times are whole seconds. */
export const endedByDeletion = (pod: Obj, end: Terminated | undefined): boolean => {
  const deletion = deletionAskedAt(pod);
  if (deletion === undefined) return false;
  const finished = instantOf(end?.finishedAt);
  if (end === undefined || finished === undefined) return true;
  return finished > deletion || (finished === deletion && obeys.has(end.exitCode));
};

/**
 * True when a process may have ended because of its pod's deletion. A kubelet's removal of a pod moves the time of the
 * deletion, so a process that obeyed shortly before a deletion without grace may have been told to end before it.
 */
export const mayBeEndedByDeletion = (pod: Obj, end: Terminated | undefined): boolean => {
  if (end === undefined || endedByDeletion(pod, end)) return endedByDeletion(pod, end);
  const { deletionTimestamp, deletionGracePeriodSeconds: grace = 0 } = pod.metadata;
  if (deletionTimestamp === undefined || grace > 0 || !obeys.has(end.exitCode)) return false;
  return !endedFirst(pod, instantOf(end.finishedAt));
};

export type Ended = {
  readonly reason: LossReason;
  readonly exitCode: number | undefined;
  /** Epoch ms, if the pod shows it. */
  readonly at: number | undefined;
};

const byExit = (end: Terminated): LossReason =>
  end.reason === "OOMKilled" ? "memory" : (exits[end.exitCode]?.reason ?? "failed");

const reasonOf = (pod: Obj, status: PodStatus, end: Terminated | undefined): LossReason | undefined => {
  if (end?.reason === "OOMKilled") return "memory";
  const taken: Disruption | undefined = disruptionOf(status) ?? statusDisruption(status);
  if (taken !== undefined) return taken;
  if (endedByDeletion(pod, end)) return "deleted";
  if (end !== undefined) return byExit(end);
  return status.phase === "Succeeded" ? "finished" : undefined;
};

/**
 * The end of an executor's pod. Undefined: the pod shows none. With an undefined reason: it ended and shows no reason,
 * which a later read may show.
 */
export const endingOf = (pod: Obj): ShownEnd | undefined => ofPod(pod).end;

type ShownEnd = Omit<Ended, "reason"> & { readonly reason: LossReason | undefined };

/** Found once for each state of a pod, because a step asks often, and for every pod of a run. */
const ofPod = oncePer((pod: Obj): { readonly end: ShownEnd | undefined } => {
  const status = podStatus(pod);
  const end = executorEnd(status);
  if (end === undefined && !isOver(status)) return { end: undefined };
  return { end: { reason: reasonOf(pod, status, end), exitCode: end?.exitCode, at: instantOf(end?.finishedAt) } };
});

/** The id under which the driver knows an executor; undefined while it has none. */
export const executorId = (pod: Stored): number | undefined => {
  const label = labelOf(pod, "spark-exec-id") ?? "";
  return /^\d{1,9}$/.test(label) ? Number(label) : undefined;
};
