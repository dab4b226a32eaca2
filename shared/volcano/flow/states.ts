/** The phases of the kind JobFlow. */
import { type KindState, type KindStates, quiet, unseen } from "../../kube/object-state.ts";
import type { FlowPhase } from "../schema/workflows.ts";

export const jobFlowStates = {
  stateAt: ["status", "state", "phase"],
  messageAt: [],
  states: {
    "": { ...unseen, health: "Progressing" },
    Pending: { waitsFor: "its first jobs to run", todo: quiet, health: "Progressing" },
    Running: { waitsFor: "its jobs to finish", todo: quiet, health: "Healthy" },
    Succeed: {
      waitsFor: "nothing: all of its jobs have completed",
      todo: "nothing; delete it and create it again to run it again",
      health: "Healthy",
      ended: "well",
    },
    Failed: {
      waitsFor: "nothing: it has failed",
      todo: "see why with rekindle status of the job; fix it, delete the flow and create it again",
      health: "Degraded",
      ended: "badly",
    },
  } satisfies Readonly<Record<FlowPhase | "", KindState>>,
} as const satisfies KindStates;
