/** The states of the kind SparkConnect. */
import { type KindStates, quiet, unseen } from "../../kube/object-state.ts";

export const sparkConnectStates: KindStates = {
  stateAt: ["status", "state"],
  messageAt: [],
  states: {
    "": { ...unseen, health: "Progressing" },
    Provisioning: { waitsFor: "its server to start", todo: quiet, health: "Progressing" },
    Ready: { waitsFor: "clients", todo: "nothing: connect to the service on port 15002", health: "Healthy" },
    NotReady: { waitsFor: "its server to answer", todo: "correct what the message names", health: "Progressing" },
    Failed: { waitsFor: "its spec to be corrected", todo: "correct what the message names", health: "Degraded" },
  },
};
