/** The states of the kind SparkCluster. */
import { type KindState, type KindStates, unseen } from "../../kube/object-state.ts";
import type { ClusterState } from "./memory.ts";

const again = "tried again, after upstream had given it up";
const correct = "correct what the message names";

export const sparkClusterStates = {
  stateAt: ["status", "currentState", "currentStateSummary"],
  messageAt: ["status", "currentState", "message"],
  states: {
    "": { ...unseen, health: "Progressing", adopted: "its objects are created" },
    Submitted: {
      waitsFor: "its objects to be created",
      todo: "nothing: it continues by itself",
      health: "Progressing",
      adopted: "its objects are created",
    },
    SchedulingFailure: {
      waitsFor: "its refused object, or its spec, to be corrected",
      todo: correct,
      health: "Degraded",
      adopted: again,
    },
    RunningHealthy: {
      waitsFor: "clients",
      todo: "nothing: submit to its master at port 7077 of its Service",
      health: "Healthy",
      adopted: "adopted, and kept as its spec says",
    },
    Failed: {
      waitsFor: "its refused object, or its spec, to be corrected",
      todo: correct,
      health: "Degraded",
      adopted: again,
    },
    ResourceReleased: {
      waitsFor: "nothing: it has ended",
      todo: "delete and create it to run it again",
      health: "Healthy",
    },
  } satisfies Readonly<Record<ClusterState | "", KindState>>,
} as const satisfies KindStates;
