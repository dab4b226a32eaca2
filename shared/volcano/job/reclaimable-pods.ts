/**
 * The quota of pods that have succeeded, which a job gives back to Kueue while others run: `status.reclaimablePods` of its
 * Workload. Kueue forbids to lower these numbers while quota is reserved.
 *
 * Q3. A pod whose quota was given back is never created again under the same admission: a job with a policy that creates
 *     finished pods again gives none back, and one that a Command restarts is queued anew.
 */
import { fieldsOf, recordsIn } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import type { Json } from "../../kube/responses.ts";
import type { Action } from "../schema/resource.ts";
import { nameOf, tasksOf } from "../schema/spec.ts";
import type { JobContext } from "./context.ts";
import { ofTask } from "./memory.ts";

/** Actions that end succeeded pods and create them again. */
const renewing: ReadonlySet<Action | string | undefined> = new Set<Action>([
  "RestartJob",
  "RestartTask",
  "RestartPartition",
]);

type Policed = Pick<JobContext, "spec" | "annotationPolicies">;

/** True if a policy of the job may create its succeeded pods again. */
const isRenewed = ({ spec, annotationPolicies: { exitCodes } }: Policed): boolean =>
  [...(spec.policies ?? []), ...tasksOf(spec).flatMap(({ policies = [] }) => policies), ...exitCodes].some(
    ({ action }) => renewing.has(action),
  );

/** Returns the number of pods of each task whose quota was given back. */
const givenBack = (workload: Stored): ReadonlyMap<string, number> =>
  new Map(
    recordsIn(fieldsOf(workload.status)["reclaimablePods"]).flatMap(({ name, count }): readonly [string, number][] =>
      typeof name === "string" && typeof count === "number" ? [[name, count]] : [],
    ),
  );

/** Returns why the job needs more quota than its Workload still has; undefined if it does not. */
export const shortageOf = (
  { spec, memory }: Pick<JobContext, "spec" | "memory">,
  workload: Stored,
): string | undefined => {
  const back = givenBack(workload);
  const short = tasksOf(spec).find((task) => (back.get(nameOf(task)) ?? 0) > ofTask(memory.done, nameOf(task)).size);
  return short === undefined
    ? undefined
    : `pods of task ${nameOf(short)} run again although their quota was given back`;
};

/** Returns the list for the Workload's status; undefined if it is up to date. */
export const reclaimablePods = (
  context: Pick<JobContext, "spec" | "memory" | "annotationPolicies">,
  workload: Stored,
): readonly Json[] | undefined => {
  const { spec, memory } = context;
  if (memory.phase !== "Running" || isRenewed(context)) return undefined;
  const back = givenBack(workload);
  const counts = tasksOf(spec).map((task) => {
    const name = nameOf(task);
    return { name, count: Math.max(back.get(name) ?? 0, ofTask(memory.done, name).size) };
  });
  const grows = counts.some(({ name, count }) => count > (back.get(name) ?? 0));
  return grows ? counts.filter(({ count }) => count > 0) : undefined;
};
