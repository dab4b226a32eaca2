/** What keeps a SparkConnect's server from starting. */

import { type Decision, settled } from "../../core/decision.ts";
import type { Stored } from "../../core/object.ts";
import type { Plan, View } from "../../core/plan.ts";
import { until } from "../../core/waiting-on.ts";
import { type Startup, withStartup } from "../../kube/startup.ts";
import type { Memory } from "./memory.ts";
import { sparkConnects } from "./resource.ts";

/** The server's pod; `isStale`: it was made of an earlier spec, so that the plan waits for more than its start. */
export type Starting = { readonly pod: Stored; readonly isStale: boolean };

const waitsFor =
  (isStale: boolean): Startup["waitsFor"] =>
  (why, besides = until("its server", "started")) =>
    isStale ? { on: "podStart", pod: "it", why, besides } : until("its server", "started", why);

/** The plan with what the server waits for. Runs are counted anew once a server was ready, so the event is of its pod. */
export const startingUp = (
  view: View<Memory>,
  object: Stored,
  plan: Plan<Memory>,
  starting: Starting | undefined,
): Decision<Memory> => {
  const startup: Startup = {
    ...{ object, resource: sparkConnects, run: plan.memory.ends, role: "server" },
    ...(starting === undefined ? {} : { occasion: starting.pod.metadata.uid }),
    pods: settled(starting === undefined ? [] : [starting.pod]),
    waitsFor: waitsFor(starting?.isStale ?? false),
  };
  return withStartup(view, startup, plan);
};
