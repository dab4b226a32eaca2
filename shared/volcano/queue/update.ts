/** The status update that a plan for a Queue causes: the state in its status. No state is terminal. */
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";
import type { QueueMemory } from "./state/memory.ts";

export const tells = ({ status }: Plan<QueueMemory>): StateUpdate | undefined => {
  const state = status?.["state"];
  return typeof state === "string" ? { state, attempt: 0, terminal: false } : undefined;
};
