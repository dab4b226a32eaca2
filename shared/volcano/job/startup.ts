/** The reasons why a job's pods do not start. */

import { type Decision, settled } from "../../core/decision.ts";
import type { Plan } from "../../core/plan.ts";
import { until } from "../../core/waiting-on.ts";
import { type Startup, withStartup } from "../../kube/startup.ts";
import { jobs } from "../schema/resource.ts";
import type { JobContext } from "./context.ts";
import type { Memory } from "./memory.ts";

const waitsFor: Startup["waitsFor"] = (why, besides = until("its pods", "started"), { pod }) => ({
  on: "podStart",
  pod: `pod ${pod}`,
  why,
  besides,
});

/** Adds to the plan what the job's pods wait for. Gated pods wait for their group and are skipped. */
export const startingUp = ({ view, object, members, memory }: JobContext, plan: Plan<Memory>): Decision<Memory> => {
  const pods = members.filter(({ version }) => version === memory.version).map(({ pod }) => pod);
  const startup = { object, resource: jobs, run: memory.version, role: "task", pods: settled(pods), waitsFor };
  return withStartup(view, startup, plan);
};
