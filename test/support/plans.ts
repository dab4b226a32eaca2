/** Helpers for assertions about plans. */

import { type Next, type Plan, type Wait, waitOf } from "../../shared/core/plan.ts";
import { waitingText } from "../../shared/core/waiting-on.ts";

/** The wait of a plan, in the words for people; empty without a plan. */
export const waitIn = (plan: Plan<unknown> | undefined): Omit<Wait, "waitsFor"> & { readonly waitsFor?: string } => {
  const { waitsFor, ...wait } = plan === undefined ? {} : waitOf(plan);
  return { ...wait, ...(waitsFor === undefined ? {} : { waitsFor: waitingText(waitsFor) }) };
};

/** True where the plan continues in this way, else undefined. */
export const does = (plan: Plan<unknown> | undefined, what: Next["do"]): true | undefined =>
  plan?.next.do === what ? true : undefined;
