/**
 * Kueue: its labels (https://kueue.sigs.k8s.io/docs/reference/labels-and-annotations), and the resources of its API
 * that Rekindle reads and writes. A Workload is what Kueue admits: pod sets, the LocalQueue, and conditions.
 */
import { fieldsOf, isRecord, recordsIn } from "../core/json.ts";
import { type Obj, type Resource, refTo, type Stored } from "../core/object.ts";
import type { Effect } from "../core/plan.ts";
import { instantOf, timeText } from "../core/time.ts";
import { until, type WaitingOn } from "../core/waiting-on.ts";
import type { Json } from "./responses.ts";

/** The label that names the LocalQueue of an object, whose start and stop Kueue then decides. */
export const queueLabel = "kueue.x-k8s.io/queue-name";

const resource = (plural: string, kind: string): Resource => ({
  ...{ group: "kueue.x-k8s.io", version: "v1beta2" },
  ...{ plural, kind },
});

/** The annotation that names the LocalQueue of an application whose Workload Rekindle makes, where Kueue's integration is off. */
export const ownQueueKey = "rekindle.dev/kueue-queue";

export const workloads = resource("workloads", "Workload");
export const resourceFlavors = resource("resourceflavors", "ResourceFlavor");
export const workloadPriorityClasses = resource("workloadpriorityclasses", "WorkloadPriorityClass");

/** The label of a Workload with the UID of its object, which Kueue and Rekindle set alike. */
export const jobUidLabel = "kueue.x-k8s.io/job-uid";

/** The label of Workloads that Rekindle has created: only these are watched. */
export const ownWorkloads = { "app.kubernetes.io/managed-by": "rekindle" } as const;

type Texts = Readonly<Record<string, string>>;

type Labelled = { readonly metadata: { readonly labels?: Texts; readonly annotations?: Texts } };

/** Returns the LocalQueue of an object; undefined if Kueue does not admit it. */
export const localQueueOf = ({ metadata }: Labelled): string | undefined => {
  const queue = metadata.labels?.[queueLabel] || metadata.annotations?.[ownQueueKey];
  return queue === "" ? undefined : queue;
};

/** True of an object whose LocalQueue its annotation alone names. */
export const isOwnQueue = ({ metadata }: Labelled): boolean =>
  (metadata.labels?.[queueLabel] ?? "") === "" && (metadata.annotations?.[ownQueueKey] ?? "") !== "";

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

/** True while Kueue counts the Workload's quota as used. Finished and preempted ones may keep the condition. */
export const reservesQuota = (workload: Obj): boolean =>
  isTrue(workload, "QuotaReserved") && isRecord(fieldsOf(workload.status)["admission"]);

/** The assignment of Kueue to each pod set of a Workload: `name`, `count`, `flavors`; nothing before it is admitted. */
export const assignmentsIn = (workload: Obj): readonly Json[] =>
  recordsIn(fieldsOf(fieldsOf(workload.status)["admission"])["podSetAssignments"]);

/** A condition to write. */
export type NewCondition = Readonly<Record<"type" | "reason" | "message", string>> & {
  readonly status: "True" | "False";
};

const conditionsWith = (
  before: readonly Condition[],
  condition: NewCondition,
  workload: Obj,
  now: number,
): readonly Condition[] => {
  const known = before.find(({ type }) => type === condition.type);
  const lastTransitionTime = known?.status === condition.status ? known.lastTransitionTime : timeText(now);
  const observedGeneration = workload.metadata.generation ?? 0;
  const rest = before.filter(({ type }) => type !== condition.type);
  return [
    ...rest,
    { ...condition, message: condition.message.slice(0, 1_024), lastTransitionTime, observedGeneration },
  ];
};

/** Returns the Workload's conditions with this one in them; its time stays as long as its status does. */
export const withCondition = (workload: Obj, condition: NewCondition, now: number): readonly Json[] =>
  conditionsWith(conditionsOf(workload), condition, workload, now);

/** Writes into the status of a Workload as it was read. */
export const statusWrite = (workload: Stored, patch: Json): Effect => {
  const { uid, resourceVersion } = workload.metadata;
  return { do: "patch", ref: refTo(workloads, workload), uid, resourceVersion, patch, subresource: "status" };
};

/** Marks the Workload of an object that has ended as finished, which gives its quota back. `now`: epoch ms. */
export const finishing = (workload: Stored, succeeded: boolean, message: string, now: number): Effect => {
  const condition = { type: "Finished", status: "True", reason: succeeded ? "Succeeded" : "Failed", message } as const;
  return statusWrite(workload, { conditions: withCondition(workload, condition, now) });
};

/**
 * Returns the part of a Workload's status that says whether its pods are ready, by which Kueue's waitForPodsReady goes; {} if it
 * says so already. As Kueue's own integrations. `now`: epoch ms.
 */
export const readinessIn = (workload: Obj, isReady: boolean, now: number): Json => {
  const before = conditionIn(workload, "PodsReady");
  if (isReady === (before?.status === "True")) return {};
  const recovers = ["WaitForRecovery", "Recovered"].includes(String(before?.["reason"]));
  const condition: NewCondition = isReady
    ? {
        ...{ type: "PodsReady", status: "True", reason: recovers ? "Recovered" : "Started" },
        message: "All pods reached readiness and the workload is running",
      }
    : {
        ...{ type: "PodsReady", status: "False", reason: "WaitForRecovery" },
        message: "At least one pod has failed, waiting for recovery",
      };
  return { conditions: withCondition(workload, condition, now) };
};

/** Says once that the pods of an admitted Workload are ready. Later losses are replaced, and take nothing back. `now`: epoch ms. */
export const readyOnce = (workload: Stored, isReady: boolean, now: number): readonly Effect[] =>
  isReady && isTrue(workload, "Admitted") && !isTrue(workload, "PodsReady")
    ? [statusWrite(workload, readinessIn(workload, true, now))]
    : [];

/** Reasons for an eviction after which Kueue queues the Workload again by itself. */
const requeuing: readonly unknown[] = ["Preempted", "NodeFailures"];

/** The time for which the Workload was admitted, s: Kueue limits it, over all admissions. */
const spentOf = (workload: Obj, now: number): Json => {
  const { lastTransitionTime } = conditionIn(workload, "Admitted") ?? {};
  const since = typeof lastTransitionTime === "string" ? instantOf(lastTransitionTime) : undefined;
  if (!isTrue(workload, "Admitted") || since === undefined) return {};
  const { accumulatedPastExecutionTimeSeconds: past } = fieldsOf(workload.status);
  const before = typeof past === "number" ? past : 0;
  return { accumulatedPastExecutionTimeSeconds: before + Math.max(0, Math.floor((now - since) / 1_000)) };
};

/** Returns the status patch that gives an evicted Workload's quota back, as Kueue's own integrations do: it is queued again. */
export const statusWithoutQuota = (workload: Obj, now: number): Json => {
  const { reason = "Evicted", message = "" } = conditionIn(workload, "Evicted") ?? {};
  const says = { reason: String(reason), message: String(message) };
  const requeued = requeuing.includes(reason) ? "True" : "False";
  const changes: readonly NewCondition[] = [
    { type: "Requeued", status: requeued, ...says },
    { type: "QuotaReserved", status: "False", reason: "Pending", message: says.message },
    { type: "Admitted", status: "False", reason: "NoReservation", message: "The workload has no reservation" },
    { type: "PodsReady", status: "False", reason: "WaitForStart", message: "Not all pods are ready or succeeded" },
  ];
  const conditions = changes.reduce((all, one) => conditionsWith(all, one, workload, now), conditionsOf(workload));
  const nothing = { admission: null, reclaimablePods: null };
  return { ...nothing, conditions, ...spentOf(workload, now) };
};
