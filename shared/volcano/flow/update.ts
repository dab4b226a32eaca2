/** The status update that a plan for a JobFlow causes: its phase, or InvalidSpec. Its jobs have their own. */
import type { Stored } from "../../core/object.ts";
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";
import { isOver } from "./machine.ts";
import type { Memory } from "./memory.ts";
import { readFlowSpec } from "./read.ts";

export const tells = ({ memory: { phase, warned } }: Plan<Memory>, object: Stored): StateUpdate => {
  const over = isOver(phase);
  const read = readFlowSpec(object);
  if (!over && !read.ok) return { state: "InvalidSpec", attempt: 0, terminal: false, message: read.message };
  return { state: phase, attempt: 0, terminal: over, ...(warned === undefined ? {} : { message: warned }) };
};
