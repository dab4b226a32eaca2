/**
 * The Workload by which Rekindle asks Kueue for quota for an object of a kind that Kueue has no integration of: one for each
 * object, which owns it and with which it ends. Its name, its fields, how a step reads it, and its meaning for its object.
 */
import { get, list, type Reads } from "../core/decision.ts";
import { fieldsOf, recordsIn } from "../core/json.ts";
import { digest } from "../core/key.ts";
import {
  apiVersionOf,
  isLabelValue,
  type Obj,
  type OwnerReference,
  type Resource,
  type Stored,
} from "../core/object.ts";
import { schedulingPart } from "./gang-members.ts";
import {
  conditionIn,
  isActive,
  isTrue,
  jobUidLabel,
  localQueueOf,
  ownWorkloads,
  queueLabel,
  workloads,
} from "./kueue.ts";
import { isRankedOtherwise } from "./kueue-priority.ts";
import { isEnding, ownedBy } from "./pods.ts";
import type { Json } from "./responses.ts";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The longest name that is also valid as a label's value, and the hash at its end. */
const longest = 63;
const hashLength = 5;

type Named = { readonly name: string; readonly uid: string };

/** Returns the name of an object's Workload, in the form of Kueue's own: `PREFIX-NAME-HASH`. */
export const workloadNameOf = (prefix: string, { kind, group }: Resource, { name, uid }: Named): string => {
  // A dot before the dash would end a part of the name, which begins with neither.
  const start = `${prefix}-${name}`.slice(0, longest - 1 - hashLength).replaceAll(".", "-");
  return `${start}-${digest(kind, group, name, uid).slice(0, hashLength)}`;
};

/** Returns the name of the priority class in the spec of a pod; "" if it has none. */
export const classOf = (spec: unknown): string => text(fieldsOf(spec)["priorityClassName"]);

/** Returns the topology request of a pod set, by the annotations of its pods; {} for none. `more`: fields beside the request. */
export const topologyIn = (annotations: Readonly<Record<string, string>> = {}, more: Json = {}): Json => {
  const { "kueue.x-k8s.io/podset-required-topology": required, "kueue.x-k8s.io/podset-preferred-topology": preferred } =
    annotations;
  const isFree = annotations["kueue.x-k8s.io/podset-unconstrained-topology"] === "true";
  const request = {
    ...(required === undefined ? {} : { required }),
    ...(preferred === undefined ? {} : { preferred }),
    ...(isFree ? { unconstrained: true } : {}),
  };
  return Object.keys(request).length === 0 ? {} : { topologyRequest: { ...request, ...more } };
};

/** Returns the pod set of as many pods as this one, with what places them. */
export const podSetFor = (
  name: string,
  count: number,
  { metadata, spec }: Obj & { readonly spec?: unknown },
): Json => ({
  ...{ name, count },
  template: { metadata: { labels: metadata.labels ?? {} }, spec: schedulingPart(fieldsOf(spec)) },
  ...topologyIn(metadata.annotations),
});

const timeLabel = "kueue.x-k8s.io/max-exec-time-seconds";
/** Annotations that Kueue's admission checks for capacity on demand read from the Workload. */
const checkPrefix = "provreq.kueue.x-k8s.io/";

/** Returns what the Workload takes over from the labels and annotations of its object. */
export const takenOver = ({
  metadata: { labels = {}, annotations = {} },
}: Obj): Pick<Asking, "annotations" | "maximumExecutionTimeSeconds"> => {
  const seconds = Number(labels[timeLabel] ?? "");
  return {
    annotations: Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith(checkPrefix))),
    ...(Number.isInteger(seconds) && seconds > 0 ? { maximumExecutionTimeSeconds: seconds } : {}),
  };
};

type Asking = {
  readonly object: Obj;
  readonly name: string;
  readonly owner: OwnerReference;
  readonly podSets: readonly Json[];
  /** The fields that rank it, as `readRank` returns them. */
  readonly rank: Json;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly maximumExecutionTimeSeconds?: number;
};

/** Returns the Workload of an object. */
export const workloadFor = ({ object, name, owner, podSets, rank, annotations = {}, ...limits }: Asking): Obj => ({
  apiVersion: apiVersionOf(workloads),
  kind: workloads.kind,
  metadata: {
    ...{ name, namespace: object.metadata.namespace ?? "default" },
    labels: { ...ownWorkloads, ...(isLabelValue(owner.uid) ? { [jobUidLabel]: owner.uid } : {}) },
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    ownerReferences: [owner],
  },
  spec: { queueName: localQueueOf(object), podSets, ...limits, ...rank },
});

type Place = { readonly namespace: string; readonly name: string };

/**
 * Reads the Workload of the object with this UID by its name. Where pods may run under it, a missing one is read a second
 * time, and an API server that does not serve the kind is a trouble: it may have just begun to serve, and no pod ends for that.
 */
export function* readWorkload({ namespace, name }: Place, uid: string, runs: boolean): Reads<Stored | undefined> {
  const field = `metadata.name=${name}`;
  const listed = yield* list({
    ...{ do: "list", resource: workloads, namespace, labels: {}, field },
    ...(runs ? {} : { spared: true }),
  });
  const found = listed.find((one) => ownedBy(one, uid));
  if (found !== undefined || !runs) return found;
  const again = yield* get({ do: "get", ref: { resource: workloads, namespace, name } });
  return again !== undefined && ownedBy(again, uid) ? again : undefined;
}

const sizesOf = (podSets: unknown): string =>
  recordsIn(podSets)
    .map(({ name, count }) => `${text(name)}=${String(count)}`)
    .sort()
    .join(" ");

/** An object, and what it asks Kueue for. */
export type Asked = {
  readonly object: Obj;
  /** The LocalQueue that it is in. */
  readonly queue: string | undefined;
  /** Its kind in texts: `the Job`. */
  readonly noun: string;
  /** The name and the count of each pod set. */
  readonly podSets: readonly Json[];
  /** Why Workloads with other counts do not stand for it. */
  readonly resized: string;
  /** The priority classes of the pod sets; "" for none. */
  readonly classes: readonly string[];
  /** Why an admission is not enough for it; absent, or undefined: it is. */
  readonly lacks?: (workload: Stored) => string | undefined;
  /** Why a Workload that waits is asked for anew; absent, or undefined: it is not. */
  readonly differs?: (workload: Stored) => string | undefined;
};

/**
 * Returns why the Workload no longer stands for its object; undefined if it does. Only what it says itself is compared, so
 * that an upgrade of Rekindle replaces none.
 */
const outdated = (workload: Stored, { object, queue, noun, podSets, resized, classes, lacks, differs }: Asked) => {
  const { queueName, podSets: known } = fieldsOf(workload.spec);
  if (text(queueName) !== queue) return `${noun} is now in LocalQueue ${queue}`;
  if (sizesOf(known) !== sizesOf(podSets)) return resized;
  const lack = lacks?.(workload);
  if (lack !== undefined || isTrue(workload, "QuotaReserved")) return lack;
  return (
    differs?.(workload) ??
    (isRankedOtherwise(workload, object, classes) ? `${noun} has another priority class` : undefined)
  );
};

/** The meaning of a Workload for its object. */
export type WorkloadState =
  /** The object's pods may run. */
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
export const standingOf = (workload: Stored | undefined, asked: Asked): WorkloadState => {
  if (workload === undefined) return { is: "missing", why: "it does not exist" };
  if (isEnding(workload)) return { is: "outdated", why: "it is being deleted" };
  if (isTrue(workload, "Finished")) return { is: "outdated", why: `it is finished, and ${asked.noun} is not` };
  const changed = outdated(workload, asked);
  if (changed !== undefined) return { is: "outdated", why: changed };
  const isEvicted = isTrue(workload, "Evicted");
  if (isEvicted && isTrue(workload, "QuotaReserved")) return { is: "evicted", why: evictionOf(workload) };
  return !isEvicted && isActive(workload) && isTrue(workload, "Admitted")
    ? { is: "admitted" }
    : { is: "waiting", why: waitOf(workload) };
};

/** Why an object has no Workload, before the words of the API server: it refused the Workload, or does not serve its kind. */
export const requestFailed = `The label ${queueLabel} needs a Workload of ${apiVersionOf(workloads)} (Kueue 0.15 or later), which failed`;

/** Why the pods of an object end that Kueue does not admit any more. */
export const lossText = ({ is, why }: Exclude<WorkloadState, { is: "admitted" }>): string =>
  is === "evicted" ? `Kueue evicted it (${why})` : `its Workload of Kueue is not admitted (${why || is})`;

/** The wait of an object for its Workload, in words. */
export const admissionText = (name: string, queue: string, { is, why }: Exclude<WorkloadState, { is: "admitted" }>) => {
  const waits = `waits until Kueue admits Workload ${name} in LocalQueue ${queue}`;
  return is === "waiting" && why !== "" ? `${waits}; ${why}` : waits;
};
