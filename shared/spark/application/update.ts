/** What a plan for a SparkApplication means to whoever listens. */
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";
import type { Memory, Phase } from "./memory.ts";

/** Phases that only somebody's change ends. */
const ends: ReadonlySet<Phase> = new Set(["COMPLETED", "FAILED"]);

/** Nothing before the first phase is entered. */
export const tells = ({ memory: { state, attempt } }: Plan<Memory>): StateUpdate | undefined => {
  if (state.phase === "") return undefined;
  const message = "error" in state ? { message: state.error } : {};
  return { state: state.phase, attempt, terminal: ends.has(state.phase), ...message };
};
