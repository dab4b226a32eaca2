/** The status update that a plan for a CronJob causes: no state is terminal. Its jobs have updates of their own. */
import type { Stored } from "../../core/object.ts";
import type { StateUpdate } from "../../core/outbox.ts";
import type { Plan } from "../../core/plan.ts";
import type { Memory } from "./memory.ts";
import { readCronSpec } from "./read.ts";

const word = (state: string, message?: string): StateUpdate => ({
  ...{ state, attempt: 0, terminal: false },
  ...(message === undefined ? {} : { message }),
});

const isActive = ({ status }: Plan<Memory>): boolean => {
  const active = status?.["active"];
  return Array.isArray(active) && active.length > 0;
};

/** The first that holds: InvalidSpec, Suspended, JobRefused, Active, Scheduled. */
export const tells = (plan: Plan<Memory>, object: Stored): StateUpdate | undefined => {
  const read = readCronSpec(object);
  if (!read.ok) return word("InvalidSpec", read.message);
  if (read.asked.suspended) return word("Suspended");
  const { refusal } = plan.memory;
  if (refusal !== undefined) return word("JobRefused", refusal);
  // A plan without a status does not say whether jobs are active.
  if (plan.status === undefined) return undefined;
  return word(isActive(plan) ? "Active" : "Scheduled");
};
