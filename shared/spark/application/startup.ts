/** What keeps an application's driver, and its executors once the driver runs, from starting. */
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import { type Decision, queryId, type View } from "../../core/plan.ts";
import { type Startup, withStartup } from "../../kube/startup.ts";
import { podsOf } from "./context.ts";
import { type Pods, sortOut } from "./driver/evidence.ts";
import type { Memory } from "./memory.ts";
import { sparkApplications } from "./resource.ts";

type Role = Pick<Startup, "role" | "pods" | "waitsFor">;

const roleOf = ({ state }: Memory, found: Pods): Role | undefined => {
  if (state.phase === "SUBMITTED") {
    const pods = found.driver === undefined ? [] : [found.driver];
    return { role: "driver", pods, waitsFor: (text) => `the driver to start (${text})` };
  }
  if (state.phase !== "RUNNING") return undefined;
  const waitsFor: Role["waitsFor"] = (text, before = "the driver to finish", { pod }) =>
    `${before}; executor pod ${pod} does not start (${text})`;
  return { role: "executor", pods: found.executors, waitsFor };
};

/** The decision with what the run's pods wait for; whether a driver that was only just made starts is found out by the clock. */
export const startingUp = (
  key: Key,
  view: View<Memory>,
  object: Stored,
  decision: Decision<Memory>,
): Decision<Memory> => {
  const seen = view.seen.get(queryId(podsOf(key)));
  if ("look" in decision) return decision;
  const { memory } = decision;
  const role = roleOf(memory, sortOut(seen ?? [], view.uid, memory.driver));
  if (role === undefined) return decision;
  return withStartup(view, { object, resource: sparkApplications, run: memory.attempt, ...role }, decision);
};
