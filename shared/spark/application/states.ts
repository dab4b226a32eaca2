/** The states of the kind SparkApplication. A running one is healthy: it may be one that never ends. */
import { type KindState, type KindStates, quiet, unseen } from "../../kube/object-state.ts";
import type { Phase } from "./state/memory.ts";

export const sparkApplicationStates = {
  stateAt: ["status", "applicationState", "state"],
  messageAt: ["status", "applicationState", "errorMessage"],
  states: {
    "": { ...unseen, health: "Progressing", adopted: "submitted" },
    SUBMITTED: {
      waitsFor: "the driver to start",
      todo: quiet,
      health: "Progressing",
      adopted: "adopted, and followed to its end",
    },
    RUNNING: {
      waitsFor: "the driver to finish",
      todo: quiet,
      health: "Healthy",
      adopted: "adopted, and followed to its end",
    },
    SUCCEEDING: {
      waitsFor: "its success to be recorded",
      todo: quiet,
      health: "Healthy",
      adopted: "completed, or run again as its policy says",
    },
    COMPLETED: {
      waitsFor: "nothing: it has completed",
      todo: "nothing; apply it with a changed spec to run it again",
      health: "Healthy",
      ended: "well",
      adopted: "left as it is, until its time to live is over",
    },
    SUBMISSION_FAILED: {
      waitsFor: "its next submission",
      todo: "correct what the message names; the next try uses it",
      health: "Progressing",
      adopted: "retried when upstream would have retried it, or failed",
    },
    FAILING: {
      waitsFor: "its next attempt, or the decision that there is none",
      todo: quiet,
      health: "Progressing",
      adopted: "retried when upstream would have retried it, or failed",
    },
    FAILED: {
      waitsFor: "nothing: it has failed",
      todo: "fix the cause and apply it with a changed spec",
      health: "Degraded",
      ended: "badly",
      adopted: "left as it is, until its time to live is over",
    },
    PENDING_RERUN: {
      waitsFor: "the remaining objects of the last run to end",
      todo: quiet,
      health: "Progressing",
      adopted: "submitted when its old pods are gone",
    },
    INVALIDATING: {
      waitsFor: "the run of the old spec to end",
      todo: quiet,
      health: "Progressing",
      adopted: "ended and run again, because its spec was changed",
    },
    SUSPENDING: { waitsFor: "its pods to end", todo: quiet, health: "Suspended", adopted: "suspended" },
    SUSPENDED: {
      waitsFor: "spec.suspend to become false",
      todo: "set spec.suspend to false when it is to run",
      health: "Suspended",
      adopted: "left suspended",
    },
    RESUMING: { waitsFor: "its driver to be submitted", todo: quiet, health: "Progressing", adopted: "submitted" },
    UNKNOWN: {
      waitsFor: "the state of its driver to become known",
      todo: "check the node of the driver pod: kubectl get nodes",
      health: "Progressing",
      adopted: "adopted, and followed to its end",
    },
  } satisfies Readonly<Record<Phase, KindState>>,
} as const satisfies KindStates;
