/**
 * Rekindle's additions to the objects that upstream and Spark would create: labels, owners that let the kubelet find
 * ConfigMaps before the driver pod exists, and confs that keep evidence or that templates cannot express.
 */

import { attemptLabel, type Obj, type OwnerReference } from "../../core/object.ts";
import { memoryLimitMark } from "../../kube/admission.ts";
import { localQueueOf } from "../../kube/kueue.ts";
import { appUidLabel } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import type { Rules } from "../configuration/versions.ts";
import { decommissionConfs } from "../executors/allocation.ts";
import { recoversShuffle, reuseConf } from "../executors/claim-policy.ts";
import { scaleOf } from "../executors/demand.ts";
import { wantedOf } from "../executors/owner.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { appNameLabel } from "../schema/pod-query.ts";
import { growthCause, growthConfs, isDynamic } from "../schema/rules.ts";
import type { Pair } from "./arguments/pod.ts";
import type { SparkPod } from "./pods/pod.ts";

/** Labels of every object that a submission creates. */
export const addedLabels: readonly string[] = [appUidLabel, attemptLabel];

/** Variables of drivers and executors by which a sink can tell the writers of two attempts apart. */
export const addedVariables = ["REKINDLE_EPOCH", "REKINDLE_APP_UID"] as const;

/** Labels of objects other than pods: upstream's pods have them already, by conf. */
export const foundBy = [appNameLabel, "sparkoperator.k8s.io/submission-id"] as const;

/** All additions in words, for people who compare. */
export const additions: readonly { readonly what: string; readonly why: string }[] = [
  {
    what: `labels ${addedLabels.join(", ")} on all objects and in the executors' template`,
    why: "an attempt is found by them",
  },
  { what: `labels ${foundBy.join(", ")} on services and config maps`, why: "upstream has them on pods alone" },
  {
    what: "services, config maps, claims and policies are owned by the SparkApplication, not by the driver pod",
    why: "they are made first, so that the kubelet finds what it mounts",
  },
  {
    what: "spark.kubernetes.executor.deleteOnTermination=false",
    why: "Spark deletes the evidence of a loss 90 ms after it",
  },
  {
    what: "spark.kubernetes.executor.terminationGracePeriodSeconds from spec.executor, for Spark 4.1 and later",
    why: "these overwrite what a template says",
  },
  {
    what: "pod fields of upstream's webhook in the executors' template",
    why: "no webhook is needed",
  },
  {
    what: `label and annotation ${memoryLimitMark} in the executors' template, for spec.executor.memoryLimit`,
    why: "Spark overwrites the limit of a template: admission writes it, where it is installed",
  },
  {
    what: "with rekindle.dev/executors: own, dynamic allocation from 0 executors on that never asks for one",
    why: "Rekindle creates the executors; a second allocator would replace every loss once more",
  },
  {
    what: "with it, the same annotation on the pods of the driver and of the executors",
    why: "it tells who creates the executors when the record is lost",
  },
  {
    what: "spark.executor.failuresValidityInterval=1h, unless spark.executor.maxNumFailures is set",
    why: "Spark adds up failed executors over a driver's whole life, and then ends it",
  },
  {
    what: "with rekindle.dev/executors: own, spark.executor.maxNumFailures of 100 or ten for every executor",
    why: "Spark would end the application because of losses that Rekindle replaces",
  },
  {
    what: `with it and with dynamic allocation, ${decommissionConfs.map(([key, value]) => `${key}=${value}`).join(", ")}, unless they are set`,
    why: "an executor that leaves moves its shuffle data to others first",
  },
  {
    what: `with it, claims for each executor and the plugin KubernetesLocalDiskShuffleDataIO, ${reuseConf}=true, unless it is set`,
    why: "the driver takes an absent conf for true, and the plugin in executors for false: it would find no shuffle data on a claim",
  },
  {
    what: "without it, for an application with Kueue's queue label: spark.dynamicAllocation.enabled=false and spark.streaming.dynamicAllocation.enabled=false",
    why: "Kueue has admitted a fixed number of executors, and -D options or the image's defaults could raise it",
  },
  {
    what: "without it and without dynamic allocation, spark.executor.maxNumFailures of 12 or four for every executor",
    why: "executors of lost nodes are made to count as failed, so that the driver hears of them at once",
  },
  {
    what: `variables ${addedVariables.join(" and ")} of the driver and the executors: the attempt, and the application's UID`,
    why: "a sink can refuse a writer of an earlier attempt",
  },
  {
    what: "spark-version is spec.sparkVersion, SPARK_USER is spark",
    why: "upstream's are the Spark and the user of its own submitter; recordings are compared as made by theirs",
  },
];

type Application = { readonly name: string; readonly namespace: string; readonly uid: string };

type Mark = { readonly app: Application; readonly attempt: number; readonly submissionId: string };

/** Labels of pods: the operator's own labels are set already, by conf. */
export const podLabels = ({ app, attempt }: Mark): Readonly<Record<string, string>> => ({
  [appUidLabel]: app.uid,
  [attemptLabel]: `${attempt}`,
});

/** Marks an executor whose memory limit admission writes, because Spark overwrites a template's. */
export const limited = (pod: SparkPod, amount: string): SparkPod => ({
  ...pod,
  metadata: {
    ...pod.metadata,
    labels: { ...pod.metadata.labels, [memoryLimitMark]: "true" },
    annotations: { ...pod.metadata.annotations, [memoryLimitMark]: amount },
  },
});

const objectLabels = (mark: Mark): Readonly<Record<string, string>> => ({
  ...podLabels(mark),
  [foundBy[0]]: mark.app.name,
  [foundBy[1]]: mark.submissionId,
});

export const reference = ({ name, uid }: Application): OwnerReference => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  name,
  uid,
});

/** The owner of the driver pod, as in upstream's template. */
export const driverOwner = (app: Application): Json => ({
  ...reference(app),
  controller: true,
  blockOwnerDeletion: true,
});

/** The second owner of executors, beside the driver pod, which is their controller. */
export const executorOwner = (app: Application): Json => reference(app);

/** An object that is created before the driver pod, and therefore owned by the application. */
export const before = (object: Obj, mark: Mark): Obj => ({
  ...object,
  metadata: {
    ...object.metadata,
    namespace: mark.app.namespace,
    labels: { ...object.metadata.labels, ...objectLabels(mark) },
    ownerReferences: [{ ...reference(mark.app), controller: true }],
  },
});

/** The metrics' ConfigMap outlives attempts, so it carries no attempt. */
export const withoutAttempt = (object: Obj, app: Application): Obj => ({
  ...object,
  metadata: {
    ...object.metadata,
    namespace: app.namespace,
    labels: { ...object.metadata.labels, [appUidLabel]: app.uid, [foundBy[0]]: app.name },
    ownerReferences: [{ ...reference(app), controller: true, blockOwnerDeletion: true }],
  },
});

const keepEvidence = "spark.kubernetes.executor.deleteOnTermination";
const executorGrace = "spark.kubernetes.executor.terminationGracePeriodSeconds";

const failureWindow = "spark.executor.failuresValidityInterval";
const failureCount = "spark.executor.maxNumFailures";

const variablePrefixes = ["spark.kubernetes.driverEnv.", "spark.executorEnv."] as const;

const variableConfs = addedVariables.flatMap((name) => variablePrefixes.map((prefix) => `${prefix}${name}`));

export const addedConfs: readonly string[] = [
  ...[keepEvidence, executorGrace, failureWindow, failureCount],
  ...variableConfs,
];

/**
 * Confs of the variables, put last so that they win: the attempt is saved before its driver exists and only grows, so a
 * sink that has seen a later one can refuse a writer.
 */
export const epochConfs = ({ uid }: Pick<Application, "uid">, attempt: number): readonly Pair[] => {
  const values: Readonly<Record<(typeof addedVariables)[number], string>> = {
    REKINDLE_EPOCH: String(attempt),
    REKINDLE_APP_UID: uid,
  };
  return variablePrefixes.flatMap((prefix) => addedVariables.map((name): Pair => [`${prefix}${name}`, values[name]]));
};

/**
 * Spark counts failed executors over a driver's whole life, and then ends it; a window ends crash loops but not long
 * runs. Executors of lost nodes count as failed (`executors/repair.ts`), so the limit is twice Spark's own,
 * which is 3 or two for every executor, and at least 12.
 */
const failuresPassed = (spec: SparkApplicationSpec): readonly Pair[] => {
  if (spec.sparkConf?.[failureCount] !== undefined) return [];
  // A driver that may ask for any number of executors forgives twice their maximum.
  const most: readonly Pair[] =
    growthCause(spec) !== undefined ? [] : [[failureCount, `${Math.max(12, 4 * wantedOf(spec))}`]];
  return [[failureWindow, "1h"], ...most];
};

/** Spark counts every failed pod, also those that are replaced; Rekindle itself slows crash loops down. */
const failureBudget = (spec: SparkApplicationSpec): Pair => [
  failureCount,
  `${Math.max(100, 10 * (scaleOf(spec)?.most ?? wantedOf(spec)))}`,
];

/**
 * Confs of `rekindle.dev/executors: own`, put last so that they win: the driver asks for no executor, ends none for
 * being idle or late, and creates no ConfigMap for them.
 */
export const confsOfOwn: readonly Pair[] = [
  ["spark.dynamicAllocation.enabled", "true"],
  ["spark.dynamicAllocation.shuffleTracking.enabled", "true"],
  ["spark.dynamicAllocation.minExecutors", "0"],
  ["spark.dynamicAllocation.initialExecutors", "0"],
  ["spark.dynamicAllocation.schedulerBacklogTimeout", "10000000s"],
  ["spark.dynamicAllocation.sustainedSchedulerBacklogTimeout", "10000000s"],
  ["spark.dynamicAllocation.executorIdleTimeout", "1000000s"],
  ["spark.executor.instances", "0"],
  ["spark.kubernetes.executor.disableConfigMap", "true"],
];

type Texts = Readonly<Record<string, string>>;

type Queued = { readonly labels?: Texts; readonly annotations?: Texts };

/**
 * Confs of an application in a queue of Kueue whose driver creates the executors: without them, `-D` options or the
 * image's defaults could turn dynamic allocation on. A conf of the user's is off already: see `queueErrors`.
 */
export const confsOfQueue = (metadata: Queued, given: readonly Pair[]): readonly Pair[] =>
  localQueueOf({ metadata }) === undefined
    ? []
    : growthConfs.filter((key) => given.every(([name]) => name !== key)).map((key): Pair => [key, "false"]);

/** Defaults that Rekindle adds: put first, so that the user's confs win. */
export const confs = (spec: SparkApplicationSpec, rules: Rules, own: boolean): readonly Pair[] => {
  const grace = spec.executor.terminationGracePeriodSeconds;
  return [
    // Spark deletes a lost executor's pod 90 ms after the loss, and the reason with it.
    [keepEvidence, "false"],
    ...(own ? [failureBudget(spec)] : failuresPassed(spec)),
    ...(own && isDynamic(spec) ? decommissionConfs : []),
    ...(own && recoversShuffle(spec.sparkConf ?? {}) ? [[reuseConf, "true"] as const] : []),
    // From 4.1 on Spark overwrites what the template says.
    ...(grace === undefined || !rules.executorGraceConf ? [] : [[executorGrace, `${grace}s`] as const]),
  ];
};
