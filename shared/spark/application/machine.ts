/** The state machine of a SparkApplication as tables: what each phase does, and where the driver's evidence leads. */
import type { Phase } from "./memory.ts";

/** What a phase does about the world. */
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

/** Where a phase goes when all that it had to remove is gone. */
export const clearedInto = { INVALIDATING: "PENDING_RERUN", SUSPENDING: "SUSPENDED" } as const;

/** What is known of the current attempt's driver pod. `absent` was never seen, `lost` was and is certainly gone. */
export type Evidence = "absent" | "pending" | "running" | "completed" | "failed" | "unknown" | "lost";

/** driver's evidence → phase after it, while a run is followed; "resume" creates the pod that was planned. */
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

type Told = { readonly type: "Normal" | "Warning"; readonly reason: string; readonly message: string };

/** phase → the event that tells of it; reasons are upstream's. */
export const told: Readonly<Partial<Record<Phase, Told>>> = {
  SUBMITTED: { type: "Normal", reason: "SparkApplicationSubmitted", message: "the driver was submitted" },
  SUBMISSION_FAILED: { type: "Warning", reason: "SparkApplicationSubmissionFailed", message: "submission failed" },
  COMPLETED: { type: "Normal", reason: "SparkApplicationCompleted", message: "completed" },
  FAILED: { type: "Warning", reason: "SparkApplicationFailed", message: "failed" },
  PENDING_RERUN: { type: "Warning", reason: "SparkApplicationPendingRerun", message: "waits for its next run" },
  SUSPENDING: { type: "Warning", reason: "SparkApplicationSuspending", message: "is being suspended" },
  SUSPENDED: { type: "Warning", reason: "SparkApplicationSuspended", message: "is suspended" },
  RESUMING: { type: "Warning", reason: "SparkApplicationResuming", message: "resumes" },
};
