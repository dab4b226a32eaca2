/** The update of a SparkConnect's plan for its listener: no state of a server is terminal. */
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";

export const tells = ({ status }: Plan<unknown>): StateUpdate | undefined => {
  const state = status?.["state"];
  return typeof state === "string" ? { state, attempt: 0, terminal: false } : undefined;
};
