/** Plans as tests ask about them. */

import { type Next, type Plan, type Wait, waitOf } from "../../shared/core/plan.ts";
import { waitingText } from "../../shared/core/waiting-on.ts";

/** The wait that a plan leaves behind, worded as people read it; empty of no plan. */
export const waitIn = (plan: Plan<unknown> | undefined): Omit<Wait, "waitsFor"> & { readonly waitsFor?: string } => {
  const { waitsFor, ...wait } = plan === undefined ? {} : waitOf(plan);
  return { ...wait, ...(waitsFor === undefined ? {} : { waitsFor: waitingText(waitsFor) }) };
};

/** True where this comes after the plan, else undefined. */
export const does = (plan: Plan<unknown> | undefined, what: Next["do"]): true | undefined =>
  plan?.next.do === what ? true : undefined;
