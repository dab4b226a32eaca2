/** The states of the kind Queue. */
import { type KindStates, quiet, unseen } from "../../kube/object-state.ts";

export const queueStates: KindStates = {
  stateAt: ["status", "state"],
  messageAt: [],
  states: {
    "": { ...unseen, health: "Progressing" },
    Open: { waitsFor: "groups", todo: quiet, health: "Healthy" },
    Closing: { waitsFor: "its last group to end", todo: quiet, health: "Suspended" },
    Closed: {
      waitsFor: "a user to open it",
      todo: "rekindle queue operate it, with --action open",
      health: "Suspended",
    },
    Unknown: { waitsFor: "its state to become known", todo: quiet, health: "Degraded" },
  },
};
