/** The kind CronJob has no state: one that exists is healthy. */
import { type KindStates, quiet } from "../../kube/object-state.ts";

export const cronJobStates: KindStates = {
  stateAt: [],
  messageAt: [],
  states: { "": { waitsFor: "its next time", todo: quiet, health: "Healthy" } },
};
