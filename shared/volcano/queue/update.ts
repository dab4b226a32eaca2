/** What a plan for a Queue means to a listener: the state that it shows. None is its last one. */
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";
import type { QueueMemory } from "./memory.ts";

export const tells = ({ status }: Plan<QueueMemory>): StateUpdate | undefined => {
  const state = status?.["state"];
  return typeof state === "string" ? { state, attempt: 0, terminal: false } : undefined;
};
