/** A Workload of Kueue by which an object grows beyond what its own Workload admits: its state, and its number of pods. */
import { fieldsOf, recordsIn } from "../core/json.ts";
import type { Stored } from "../core/object.ts";
import { assignmentsIn, isActive, isTrue, ownWorkloads, reservesQuota, workloads } from "./kueue.ts";
import { appUidLabel, isEnding } from "./pods.ts";
import type { Json } from "./responses.ts";

/**
 * `granted`: its pods may run. `waiting`: Kueue has not admitted it. `evicted`: its pods must end, and then its quota is
 * given back. `over`: it grants nothing any more.
 */
export type GrowthState = "granted" | "waiting" | "evicted" | "over";

/** The number of pods that a growth asks for or grants, less those whose quota was given back. */
export type GrowthCounts = { readonly executors: number; readonly reclaimed: number };

/**
 * True for a growth of any application. The owner of a growth is the application's own Workload: Kueue takes every
 * Workload that the application owns for one of its own, and its step fails at one without a controller.
 */
export const isGrowth = ({ metadata: { labels = {}, ownerReferences = [] } }: Stored): boolean =>
  labels[appUidLabel] !== undefined &&
  Object.entries(ownWorkloads).every(([name, value]) => labels[name] === value) &&
  ownerReferences.some(({ kind }) => kind === workloads.kind);

/** True for a growth of the application with this UID. */
export const isGrowthOf = (workload: Stored, uid: string): boolean =>
  isGrowth(workload) && workload.metadata.labels?.[appUidLabel] === uid;

const countIn = (values: Json): number => (typeof values["count"] === "number" ? Math.max(0, values["count"]) : 0);

export const growthStateOf = (workload: Stored): GrowthState => {
  if (isEnding(workload) || isTrue(workload, "Finished")) return "over";
  const isHeld = reservesQuota(workload);
  if (isTrue(workload, "Evicted") || !isActive(workload)) return isHeld ? "evicted" : "waiting";
  // Kueue leaves both conditions True in Workloads that it has preempted or finished.
  return isHeld && isTrue(workload, "Admitted") ? "granted" : "waiting";
};

/** Counts the pods of a growth. An admission may assign fewer than were asked for. */
export const growthCountsOf = (workload: Stored): GrowthCounts => {
  const { podSets } = fieldsOf(workload.spec);
  const { reclaimablePods } = fieldsOf(workload.status);
  const [asked = {}] = recordsIn(podSets);
  const [assigned] = assignmentsIn(workload);
  const count = Math.min(countIn(asked), assigned === undefined ? Number.POSITIVE_INFINITY : countIn(assigned));
  const reclaimed = Math.min(
    count,
    recordsIn(reclaimablePods).reduce((sum, one) => sum + countIn(one), 0),
  );
  return { executors: count - reclaimed, reclaimed };
};
