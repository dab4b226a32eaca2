/**
 * The Workload by which Kueue admits a Job: one pod set for each task, in the LocalQueue that the Job's label names. It
 * belongs to the Job and ends with it.
 */
import { fieldsOf, recordsIn } from "../../core/json.ts";
import { digest } from "../../core/key.ts";
import { apiVersionOf, isLabelValue, type Obj, type Stored } from "../../core/object.ts";
import { conditionIn, isActive, isTrue, jobUidLabel, localQueueOf, ownWorkloads, workloads } from "../../kube/kueue.ts";
import { isRankedOtherwise } from "../../kube/kueue-priority.ts";
import { isEnding } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { type Owner, ownerReference } from "../pods/names.ts";
import { jobs, keys } from "../schema/resource.ts";
import { type JobSpec, nameOf, replicasOf, type Task, tasksOf } from "../schema/spec.ts";
import { admittedSpec, type PartialTask, partialAdmission } from "./partial-admission.ts";

const timeLabel = "kueue.x-k8s.io/max-exec-time-seconds";
/** Annotations that Kueue's admission checks for capacity on demand read from the Workload. */
const checkPrefix = "provreq.kueue.x-k8s.io/";

/** The longest name that is also valid as a label's value, and the hash at its end. */
const longest = 63;
const hashLength = 5;

/** Returns the name of a Job's Workload, in the form of Kueue's own: `job-NAME-HASH`. */
export const workloadName = ({ name, uid }: Pick<Owner, "name" | "uid">): string => {
  // A dot before the dash would end a part of the name, which begins with neither.
  const prefix = `job-${name}`.slice(0, longest - 1 - hashLength).replaceAll(".", "-");
  return `${prefix}-${digest(jobs.kind, jobs.group, name, uid).slice(0, hashLength)}`;
};

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const topologyOf = (annotations: Readonly<Record<string, string>>): Json => {
  const { "kueue.x-k8s.io/podset-required-topology": required, "kueue.x-k8s.io/podset-preferred-topology": preferred } =
    annotations;
  const isFree = annotations["kueue.x-k8s.io/podset-unconstrained-topology"] === "true";
  const request = {
    ...(required === undefined ? {} : { required }),
    ...(preferred === undefined ? {} : { preferred }),
    ...(isFree ? { unconstrained: true } : {}),
  };
  return Object.keys(request).length === 0 ? {} : { topologyRequest: { ...request, podIndexLabel: keys.taskIndex } };
};

/** Returns the name of the priority class of a task's pods; "" if they have none. */
const classOf = (spec: JobSpec, { template }: Task): string =>
  text(template?.spec?.["priorityClassName"]) || (spec.priorityClassName ?? "");

const podSetOf =
  (spec: JobSpec, partial: PartialTask | undefined) =>
  (task: Task): Json => {
    const { labels, annotations = {} } = task.template?.metadata ?? {};
    const metadata = {
      ...(labels === undefined ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    };
    const priorityClassName = classOf(spec, task);
    return {
      ...{ name: nameOf(task), count: replicasOf(task) },
      ...(nameOf(task) === partial?.task ? { minCount: partial.least } : {}),
      template: {
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
        spec: { ...task.template?.spec, ...(priorityClassName === "" ? {} : { priorityClassName }) },
      },
      ...topologyOf(annotations),
    };
  };

/** Returns the names of the priority classes of the tasks' pods; "" for none. */
export const classesIn = (spec: JobSpec): readonly string[] => tasksOf(spec).map((task) => classOf(spec, task));

type ForJob = {
  readonly object: Obj;
  readonly owner: Owner;
  readonly spec: JobSpec;
  readonly rank: Json;
  readonly partial: PartialTask | undefined;
};

/** The Workload says by an annotation what it asks for in part: Kueue may drop the number, where its gate is off. */
const partialText = (partial: PartialTask | undefined): string =>
  partial === undefined ? "" : `${partial.task}=${partial.least}`;

/** Returns the Workload of a Job. */
export const workloadOf = ({ object, owner, spec, rank, partial }: ForJob): Obj => {
  const { labels = {}, annotations = {} } = object.metadata;
  const seconds = Number(labels[timeLabel] ?? "");
  const kept = Object.entries(annotations).filter(([name]) => name.startsWith(checkPrefix));
  if (partial !== undefined) kept.push([partialAdmission, partialText(partial)]);
  return {
    apiVersion: apiVersionOf(workloads),
    kind: workloads.kind,
    metadata: {
      ...{ name: workloadName(owner), namespace: owner.namespace },
      labels: { ...ownWorkloads, ...(isLabelValue(owner.uid) ? { [jobUidLabel]: owner.uid } : {}) },
      ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }),
      ownerReferences: [ownerReference(owner)],
    },
    spec: {
      queueName: localQueueOf(object),
      podSets: tasksOf(spec).map(podSetOf(spec, partial)),
      ...(Number.isInteger(seconds) && seconds > 0 ? { maximumExecutionTimeSeconds: seconds } : {}),
      ...rank,
    },
  };
};

const sizesOf = (podSets: unknown): string =>
  recordsIn(podSets)
    .map(({ name, count }) => `${text(name)}=${String(count)}`)
    .sort()
    .join(" ");

const setsOf = (spec: JobSpec): string =>
  sizesOf(tasksOf(spec).map((task) => ({ name: nameOf(task), count: replicasOf(task) })));

/** A Job, and what it asks for. */
type Judged = { readonly job: Obj; readonly spec: JobSpec; readonly partial: PartialTask | undefined };

/** True if Kueue has admitted fewer pods of a task than the Job may run with. */
const isTooLittle = (workload: Stored, spec: JobSpec, partial: PartialTask | undefined): boolean =>
  tasksOf(admittedSpec(spec, workload)).some(
    (task, at) =>
      replicasOf(task) < (nameOf(task) === partial?.task ? partial.least : (spec.tasks?.[at]?.replicas ?? 0)),
  );

/**
 * Returns why the Workload no longer stands for its Job; undefined if it does. Only what it says itself is compared, so
 * that an upgrade of Rekindle replaces none.
 */
const outdated = (workload: Stored, { job, spec, partial }: Judged): string | undefined => {
  const { queueName, podSets } = fieldsOf(workload.spec);
  if (text(queueName) !== localQueueOf(job)) return `the Job is now in LocalQueue ${localQueueOf(job)}`;
  if (sizesOf(podSets) !== setsOf(spec)) return "the Job's tasks have other numbers of replicas";
  if (isTooLittle(workload, spec, partial)) return "the Job needs more pods than Kueue has admitted";
  if (isTrue(workload, "QuotaReserved")) return undefined;
  if ((workload.metadata.annotations?.[partialAdmission] ?? "") !== partialText(partial))
    return "the Job asks for other numbers of pods in part";
  return isRankedOtherwise(workload, job, classesIn(spec)) ? "the Job has another priority class" : undefined;
};

/** The meaning of a Workload for its Job. */
export type WorkloadState =
  /** The Job's pods may run. */
  | { readonly is: "admitted" }
  /** Kueue has not admitted it yet, or not again; `why`: in Kueue's words. */
  | { readonly is: "waiting" | "evicted"; readonly why: string }
  /** There is none, or none that can be admitted any more: it is deleted, and another one is created. */
  | { readonly is: "missing" | "outdated"; readonly why: string };

const evictionOf = (workload: Stored): string => {
  const { reason, message } = conditionIn(workload, "Evicted") ?? {};
  return [text(reason), text(message)].filter((one) => one !== "").join(": ");
};

const waitOf = (workload: Stored): string => {
  if (!isActive(workload)) return "it is deactivated: spec.active is false";
  return isTrue(workload, "QuotaReserved") ? "its admission checks are not ready" : "";
};

/** Judges a Workload. QuotaReserved alone does not admit: admission checks may still be open. */
export const standingOf = (workload: Stored | undefined, judged: Judged): WorkloadState => {
  if (workload === undefined) return { is: "missing", why: "it does not exist" };
  if (isEnding(workload)) return { is: "outdated", why: "it is being deleted" };
  if (isTrue(workload, "Finished")) return { is: "outdated", why: "it is finished, and the Job is not" };
  const changed = outdated(workload, judged);
  if (changed !== undefined) return { is: "outdated", why: changed };
  const isEvicted = isTrue(workload, "Evicted");
  if (isEvicted && isTrue(workload, "QuotaReserved")) return { is: "evicted", why: evictionOf(workload) };
  return !isEvicted && isActive(workload) && isTrue(workload, "Admitted")
    ? { is: "admitted" }
    : { is: "waiting", why: waitOf(workload) };
};
