/**
 * Kueue: its labels (https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations), and the resources of its API
 * that Rekindle reads and writes. A Workload is what Kueue admits: pod sets, the LocalQueue, and conditions.
 */
import { fieldsOf, recordsIn } from "../core/json.ts";
import type { Obj, Resource } from "../core/object.ts";
import { until, type WaitingOn } from "../core/waiting-on.ts";
import type { Json } from "./responses.ts";

/** The label that names the LocalQueue of an object, whose start and stop Kueue then decides. */
export const queueLabel = "kueue.x-k8s.io/queue-name";

const resource = (plural: string, kind: string): Resource => ({
  ...{ group: "kueue.x-k8s.io", version: "v1beta2" },
  ...{ plural, kind },
});

export const workloads = resource("workloads", "Workload");
export const resourceFlavors = resource("resourceflavors", "ResourceFlavor");
export const workloadPriorityClasses = resource("workloadpriorityclasses", "WorkloadPriorityClass");

/** The label of a Workload with the UID of its object, which Kueue and Rekindle set alike. */
export const jobUidLabel = "kueue.x-k8s.io/job-uid";

/** The label of Workloads that Rekindle has created: only these are watched. */
export const ownWorkloads = { "app.kubernetes.io/managed-by": "rekindle" } as const;

type Labelled = { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } };

/** Returns the LocalQueue of an object; undefined if Kueue does not admit it. */
export const localQueueOf = ({ metadata }: Labelled): string | undefined => {
  const queue = metadata.labels?.[queueLabel];
  return queue === "" ? undefined : queue;
};

/** The wait of an object for its Workload. */
export const untilAdmitted = (queue: string): WaitingOn =>
  until("its Workload of Kueue", "admitted", `LocalQueue ${queue}`);

/** The reason in the status of a Volcano Job that Kueue has not admitted. */
export const waitingForKueue = "WaitingForKueue";

/** A condition of a Workload. */
export type Condition = Json & { readonly status?: unknown; readonly lastTransitionTime?: unknown };

export const conditionsOf = (workload: Obj): readonly Condition[] => recordsIn(fieldsOf(workload.status)["conditions"]);

export const conditionIn = (workload: Obj, type: string): Condition | undefined =>
  conditionsOf(workload).find((one) => one["type"] === type);

export const isTrue = (workload: Obj, type: string): boolean => conditionIn(workload, type)?.status === "True";

/** False for a Workload that a user or Kueue has deactivated: it is not admitted, and evicted if it was. */
export const isActive = (workload: Obj): boolean => fieldsOf(workload.spec)["active"] !== false;
