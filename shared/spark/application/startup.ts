/** The startup of a run's pods: the reasons why the driver, or once it runs its executors, do not start. */

import { type Decision, list, type Reads } from "../../core/decision.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Plan, View } from "../../core/plan.ts";
import { until } from "../../core/waiting-on.ts";
import { type Startup, withStartup } from "../../kube/startup.ts";
import { podsOf } from "./run/context.ts";
import { sparkApplications } from "./spec/resource.ts";
import { sortOut } from "./state/evidence.ts";
import type { Memory } from "./state/memory.ts";

/** The pods that are to start: the driver, or the executors once it runs. */
function* startingPods(key: Key, { uid }: View<Memory>, { state, driver }: Memory): Reads<readonly Stored[]> {
  const found = sortOut(yield* list(podsOf(key)), uid, driver);
  if (state.phase === "RUNNING") return found.executors;
  return found.driver === undefined ? [] : [found.driver];
}

type Role = Pick<Startup, "role" | "waitsFor">;

const roleOf = ({ state }: Memory): Role | undefined => {
  if (state.phase === "SUBMITTED") return { role: "driver", waitsFor: (text) => until("the driver", "started", text) };
  if (state.phase !== "RUNNING") return undefined;
  const waitsFor: Role["waitsFor"] = (why, besides = until("the driver", "finished"), { pod }) => ({
    on: "podStart",
    pod: `executor pod ${pod}`,
    why,
    besides,
  });
  return { role: "executor", waitsFor };
};

/** Adds the reasons why the run's pods do not start. A timer checks the start of a driver just created. */
export function* startingUp(key: Key, view: View<Memory>, object: Stored, plan: Plan<Memory>): Decision<Memory> {
  const { memory } = plan;
  const role = roleOf(memory);
  if (role === undefined) return plan;
  const pods = startingPods(key, view, memory);
  return yield* withStartup(view, { object, resource: sparkApplications, run: memory.attempt, pods, ...role }, plan);
}
