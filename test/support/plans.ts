/** Plans as tests ask about them. */
import { type Next, type Plan, type Wait, waitOf } from "../../shared/core/plan.ts";

/** The wait that a plan leaves behind; empty of no plan. */
export const waitIn = (plan: Plan<unknown> | undefined): Wait => (plan === undefined ? {} : waitOf(plan));

/** True where this comes after the plan, else undefined. */
export const does = (plan: Plan<unknown> | undefined, what: Next["do"]): true | undefined =>
  plan?.next.do === what ? true : undefined;
