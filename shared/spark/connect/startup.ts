/** The startup of a SparkConnect's server: the reasons why it does not start. */

import { type Decision, settled } from "../../core/decision.ts";
import type { Stored } from "../../core/object.ts";
import type { Plan, View } from "../../core/plan.ts";
import { until } from "../../core/waiting-on.ts";
import { type Startup, withStartup } from "../../kube/startup.ts";
import type { Memory } from "./memory.ts";
import { sparkConnects } from "./resource.ts";

/** The server's pod; `isStale`: its spec is an earlier one, so that the plan waits for more than its start. */
export type Starting = { readonly pod: Stored; readonly isStale: boolean };

const waitsFor =
  (isStale: boolean): Startup["waitsFor"] =>
  (why, besides = until("its server", "started")) =>
    isStale ? { on: "podStart", pod: "it", why, besides } : until("its server", "started", why);

/** Adds the reasons why the server does not start. Counts restart with a ready server, so an event names its pod. */
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
