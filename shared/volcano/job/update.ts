/** The status update that a plan for a Job causes: the phase, and the message of the status. */
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";
import { isRecord } from "../../kube/responses.ts";
import type { Phase } from "../schema/words.ts";
import type { Memory } from "./memory.ts";

/** Terminal phases. Aborted is not one: an aborted job may be resumed. */
const ends: ReadonlySet<Phase> = new Set(["Completed", "Terminated", "Failed"]);

const messageIn = ({ status, memory }: Plan<Memory>): string | undefined => {
  const state = status?.["state"];
  const message = isRecord(state) ? state["message"] : memory.why?.message;
  return typeof message === "string" && message !== "" ? message : undefined;
};

export const tells = (plan: Plan<Memory>): StateUpdate => {
  const { phase, retryCount } = plan.memory;
  const message = messageIn(plan);
  return {
    ...{ state: phase, attempt: retryCount + 1, terminal: ends.has(phase) },
    ...(message === undefined ? {} : { message }),
  };
};
