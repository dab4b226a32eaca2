/** What a plan for a Job means to a listener: its phase, and of the reason what its status says. */
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";
import { isRecord } from "../../kube/responses.ts";
import type { Phase } from "../schema/words.ts";
import type { Memory } from "./memory.ts";

/** Phases that nothing leads out of; an aborted job may be resumed. */
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
