/** What a plan for a SparkConnect means to whoever listens: no state of a server is its last one. */
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";

export const tells = ({ status }: Plan<unknown>): StateUpdate | undefined => {
  const state = status?.["state"];
  return typeof state === "string" ? { state, attempt: 0, terminal: false } : undefined;
};
