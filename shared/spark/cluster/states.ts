/** The states of the kind SparkCluster. */
import { type KindState, type KindStates, unseen } from "../../kube/object-state.ts";
import type { ClusterState } from "./memory.ts";

const correct = "correct what the message names";

export const sparkClusterStates = {
  stateAt: ["status", "currentState", "currentStateSummary"],
  messageAt: ["status", "currentState", "message"],
  states: {
    "": { ...unseen, health: "Progressing" },
    Submitted: {
      waitsFor: "its objects to be created",
      todo: "nothing: it continues by itself",
      health: "Progressing",
    },
    SchedulingFailure: {
      waitsFor: "its refused object, or its spec, to be corrected",
      todo: correct,
      health: "Degraded",
    },
    RunningHealthy: {
      waitsFor: "clients",
      todo: "nothing: submit to its master at port 7077 of its Service",
      health: "Healthy",
    },
    Failed: { waitsFor: "its refused object, or its spec, to be corrected", todo: correct, health: "Degraded" },
    ResourceReleased: {
      waitsFor: "nothing: it has ended",
      todo: "delete and create it to run it again",
      health: "Healthy",
    },
  } satisfies Readonly<Record<ClusterState | "", KindState>>,
} as const satisfies KindStates;
