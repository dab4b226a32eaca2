/** The states of the kind ScheduledSparkApplication; the time of the next run makes the words of Scheduled more exact. */
import { type KindStates, quiet, unseen } from "../../kube/object-state.ts";

export const scheduledSparkApplicationStates: KindStates = {
  stateAt: ["status", "scheduleState"],
  messageAt: ["status", "reason"],
  states: {
    "": { ...unseen, health: "Progressing" },
    Scheduled: { waitsFor: "its next run", todo: quiet, health: "Healthy" },
    FailedValidation: {
      ...{ waitsFor: "its spec to be corrected", todo: "correct what the message names" },
      health: "Degraded",
    },
  },
};
