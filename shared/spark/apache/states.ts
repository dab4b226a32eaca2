/** The states of Apache's SparkApplication for people. How an attempt ended decides what the two last states say. */
import { type KindState, type KindStates, quiet, unseen } from "../../kube/object-state.ts";
import type { Summary } from "./status/summary.ts";

const followed = "adopted, and followed to its end";

const starting = (waitsFor: string, adopted = followed): KindState => ({
  ...{ waitsFor, todo: quiet, health: "Progressing", adopted },
});

/** An attempt has ended; the next step decides what follows. */
const ending = (todo = quiet): KindState => ({
  waitsFor: "its objects to be deleted, and the decision whether another attempt follows",
  todo,
  health: "Progressing",
  adopted: "its objects are deleted or kept, and its next attempt follows, as its policies say",
});

const running: KindState = {
  ...{ waitsFor: "the driver to finish", todo: quiet, health: "Healthy", adopted: followed },
};

const log = "see what the driver's log says: rekindle log";

export const apacheSparkApplicationStates = {
  endsByInspection: true,
  stateAt: ["status", "currentState", "currentStateSummary"],
  messageAt: ["status", "currentState", "message"],
  states: {
    "": { ...unseen, health: "Progressing", adopted: "submitted" },
    Submitted: starting("its driver to be submitted", "submitted"),
    ScheduledToRestart: starting("its next attempt", "submitted when its backoff is over"),
    DriverRequested: starting("the driver to start"),
    DriverStarted: starting("the driver to become ready"),
    DriverReady: starting("its executors to become ready"),
    InitializedBelowThresholdExecutors: starting("initExecutors executors to become ready"),
    RunningHealthy: running,
    RunningWithPartialCapacity: running,
    RunningWithBelowThresholdExecutors: {
      waitsFor: "minExecutors executors to be ready",
      todo: "see why its executors do not run: kubectl get pods",
      health: "Progressing",
      adopted: followed,
    },
    DriverStartTimedOut: ending("see why the driver did not start: rekindle status"),
    ExecutorsStartTimedOut: ending("see why the executors did not start: kubectl get pods"),
    DriverReadyTimedOut: ending(log),
    Succeeded: ending(),
    Failed: ending(log),
    SchedulingFailure: ending("correct what the message names"),
    DriverEvicted: ending(),
    ResourceReleased: {
      waitsFor: "nothing: it has ended",
      todo: "delete and create it to run it again",
      health: "Healthy",
      adopted: "left as it is, until its time to live is over",
    },
    TerminatedWithoutReleaseResources: {
      waitsFor: "nothing: it has ended, and its objects are kept",
      todo: "delete and create it to run it again",
      health: "Healthy",
      adopted: "left as it is, until its time to live is over",
    },
  } satisfies Readonly<Record<Summary | "", KindState>>,
} as const satisfies KindStates;
