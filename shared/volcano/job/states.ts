/** The phases of the kind Job. */
import { type KindState, type KindStates, quiet, unseen } from "../../kube/object-state.ts";
import type { Phase } from "../schema/resource.ts";

export const jobStates = {
  stateAt: ["status", "state", "phase"],
  messageAt: ["status", "state", "message"],
  states: {
    "": { ...unseen, health: "Progressing", adopted: "started when its group is admitted" },
    Pending: {
      waitsFor: "its group to be admitted, and its pods to start",
      todo: quiet,
      health: "Progressing",
      adopted: "adopted; missing pods are created when its group is admitted",
    },
    Running: {
      waitsFor: "its pods to finish",
      todo: quiet,
      health: "Healthy",
      adopted: "adopted, and followed to its end",
    },
    Restarting: {
      waitsFor: "its pods to end, before it starts again",
      todo: quiet,
      health: "Progressing",
      adopted: "its pods are created again when the old ones are gone",
    },
    Aborting: {
      waitsFor: "its pods to end",
      todo: quiet,
      health: "Suspended",
      adopted: "aborted when its pods are gone",
    },
    Aborted: {
      waitsFor: "a user to resume it",
      todo: "rekindle job resume it when it is to go on",
      health: "Suspended",
      adopted: "left until it is resumed",
    },
    Completing: {
      waitsFor: "its pods to end",
      todo: quiet,
      health: "Progressing",
      adopted: "completed when its pods are gone",
    },
    Terminating: {
      waitsFor: "its pods to end",
      todo: quiet,
      health: "Progressing",
      adopted: "terminated when its pods are gone",
    },
    Completed: {
      waitsFor: "nothing: it has completed",
      todo: "nothing; delete it and create it again to run it again",
      health: "Healthy",
      ended: "well",
      adopted: "left as it is, until its time to live is over",
    },
    Terminated: {
      waitsFor: "nothing: it was terminated",
      todo: "delete it and create it again to run it again",
      health: "Degraded",
      ended: "badly",
      adopted: "left as it is, until its time to live is over",
    },
    Failed: {
      waitsFor: "nothing: it has failed",
      todo: "fix the cause, delete it and create it again",
      health: "Degraded",
      ended: "badly",
      adopted: "left as it is, until its time to live is over",
    },
  } satisfies Readonly<Record<Phase | "", KindState>>,
} as const satisfies KindStates;
