/** The update of a schedule's plan for its listener: no state of it is terminal. Its runs have their own updates. */
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";
import type { Memory } from "./memory.ts";

/** The state of the status, or RunRefused while the API server refused the last run. */
export const tells = ({ status, memory }: Plan<Memory>): StateUpdate | undefined => {
  const { scheduleState, reason } = status ?? {};
  if (typeof scheduleState !== "string") return undefined;
  const state = scheduleState === "Scheduled" && memory.refusal !== undefined ? "RunRefused" : scheduleState;
  return { state, attempt: 0, terminal: false, ...(typeof reason === "string" ? { message: reason } : {}) };
};
