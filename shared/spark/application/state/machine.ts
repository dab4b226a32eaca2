/** The state machine of a SparkApplication as tables: the act of each phase, the phase after each evidence. */

import type { Evidence } from "./evidence.ts";
import type { Cause, Phase } from "./memory.ts";

/** The act of a phase. */
export type Act = "submit" | "follow" | "succeed" | "fail" | "clear" | "resubmit" | "wait" | "rest";

/** phase → act. As upstream's controller.go, one reconcile function per state. */
export const acts: Readonly<Record<Phase, Act>> = {
  "": "submit",
  SUBMITTED: "follow",
  RUNNING: "follow",
  UNKNOWN: "follow",
  SUCCEEDING: "succeed",
  FAILING: "fail",
  SUBMISSION_FAILED: "fail",
  INVALIDATING: "clear",
  PENDING_RERUN: "resubmit",
  SUSPENDING: "clear",
  SUSPENDED: "wait",
  RESUMING: "resubmit",
  COMPLETED: "rest",
  FAILED: "rest",
};

/** The phase that follows when everything to be removed is gone. */
export const clearedInto = { INVALIDATING: "PENDING_RERUN", SUSPENDING: "SUSPENDED" } as const;

/** driver's evidence → the phase of a followed run; "resume" creates the pod that was planned. */
export const followed: Readonly<
  Record<Evidence, "SUBMITTED" | "RUNNING" | "UNKNOWN" | "SUCCEEDING" | "FAILING" | "resume">
> = {
  absent: "resume",
  pending: "SUBMITTED",
  running: "RUNNING",
  completed: "SUCCEEDING",
  failed: "FAILING",
  unknown: "UNKNOWN",
  lost: "FAILING",
};

/** phase → whether `spec.suspend` interrupts it: a finished run has nothing to suspend. */
export const suspendable: Readonly<Record<Phase, boolean>> = {
  "": true,
  SUBMITTED: true,
  RUNNING: true,
  UNKNOWN: true,
  SUCCEEDING: true,
  FAILING: true,
  SUBMISSION_FAILED: true,
  INVALIDATING: true,
  PENDING_RERUN: true,
  SUSPENDING: false,
  SUSPENDED: false,
  RESUMING: true,
  COMPLETED: false,
  FAILED: false,
};

export type PhaseEvent = {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly of: "application" | "driver";
  readonly message: string;
};

const app = { of: "application" } as const;
const driver = { of: "driver" } as const;

/** phase → its event; reasons are upstream's. */
export const phaseEvents: Readonly<Partial<Record<Phase, PhaseEvent>>> = {
  SUBMITTED: { ...app, type: "Normal", reason: "SparkApplicationSubmitted", message: "was submitted successfully" },
  RUNNING: { ...driver, type: "Normal", reason: "SparkDriverRunning", message: "is running" },
  UNKNOWN: { ...driver, type: "Warning", reason: "SparkDriverUnknown", message: "is in unknown state" },
  SUCCEEDING: { ...driver, type: "Normal", reason: "SparkDriverCompleted", message: "completed" },
  FAILING: { ...driver, type: "Warning", reason: "SparkDriverFailed", message: "failed" },
  SUBMISSION_FAILED: {
    ...app,
    type: "Warning",
    reason: "SparkApplicationSubmissionFailed",
    message: "failed to be submitted",
  },
  COMPLETED: { ...app, type: "Normal", reason: "SparkApplicationCompleted", message: "completed" },
  FAILED: { ...app, type: "Warning", reason: "SparkApplicationFailed", message: "failed" },
  PENDING_RERUN: { ...app, type: "Warning", reason: "SparkApplicationPendingRerun", message: "is pending rerun" },
  SUSPENDING: { ...app, type: "Warning", reason: "SparkApplicationSuspending", message: "is suspending" },
  SUSPENDED: { ...app, type: "Warning", reason: "SparkApplicationSuspended", message: "is suspended" },
  RESUMING: { ...app, type: "Warning", reason: "SparkApplicationResuming", message: "is resuming" },
};

/** cause of a failure → its own event, where it has one. */
export const causeEvents: Readonly<Partial<Record<Cause, PhaseEvent>>> = {
  deleted: { ...driver, type: "Warning", reason: "SparkDriverNotFound", message: "was not found" },
};
