/** What a plan for a schedule means to whoever listens: no state of it is its last one. Its runs tell of themselves. */
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";
import type { Memory } from "./memory.ts";

/** The state of its status; and RunRefused, while the server took no run of the last time. */
export const tells = ({ status, memory }: Plan<Memory>): StateUpdate | undefined => {
  const { scheduleState, reason } = status ?? {};
  if (typeof scheduleState !== "string") return undefined;
  const state = scheduleState === "Scheduled" && memory.refusal !== undefined ? "RunRefused" : scheduleState;
  return { state, attempt: 0, terminal: false, ...(typeof reason === "string" ? { message: reason } : {}) };
};
