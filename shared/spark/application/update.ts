/** The update of a SparkApplication's plan for its listener. */
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";
import type { Memory, Phase } from "./state/memory.ts";

/** Phases that only a change of the object ends. */
const ends: ReadonlySet<Phase> = new Set(["COMPLETED", "FAILED"]);

/** Returns the update, or undefined before the first phase. */
export const tells = ({ memory: { state, attempt } }: Plan<Memory>): StateUpdate | undefined => {
  if (state.phase === "") return undefined;
  const message = "error" in state ? { message: state.error } : {};
  return { state: state.phase, attempt, terminal: ends.has(state.phase), ...message };
};
