/**
 * Everything that Rekindle adds to what upstream and Spark would create: labels to find things by, owners that let
 * the kubelet find config maps before the driver pod exists, and confs that keep evidence and say what templates cannot.
 */
import type { Obj, OwnerReference } from "../../core/object.ts";
import { memoryLimitMark } from "../../kube/admission.ts";
import type { Json } from "../../kube/answers.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import type { Pair } from "./arguments/pairs.ts";
import type { SparkPod } from "./pods/pod.ts";
import type { Rules } from "./versions.ts";

export const appUidLabel = "rekindle.dev/app-uid";
const attemptLabel = "rekindle.dev/attempt";

type Application = { readonly name: string; readonly namespace: string; readonly uid: string };

type Mark = { readonly app: Application; readonly attempt: number; readonly submissionId: string };

/** On pods: the operator's own labels are there already, by conf. */
export const podLabels = ({ app, attempt }: Mark): Readonly<Record<string, string>> => ({
  [appUidLabel]: app.uid,
  [attemptLabel]: `${attempt}`,
});

/** An executor whose memory limit admission is to write: Spark overwrites a template's. */
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
  "sparkoperator.k8s.io/app-name": mark.app.name,
  "sparkoperator.k8s.io/submission-id": mark.submissionId,
});

export const reference = ({ name, uid }: Application): OwnerReference => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  name,
  uid,
});

/** Of the driver pod: as upstream's template has it. */
export const driverOwner = (app: Application): Json => ({
  ...reference(app),
  controller: true,
  blockOwnerDeletion: true,
});

/** Of executors: beside the driver pod, which is their controller. */
export const executorOwner = (app: Application): Json => reference(app);

/** An object that is created before the driver pod: the pod cannot own what it does not precede, so the application does. */
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
export const shared = (object: Obj, app: Application): Obj => ({
  ...object,
  metadata: {
    ...object.metadata,
    namespace: app.namespace,
    labels: { ...object.metadata.labels, [appUidLabel]: app.uid, "sparkoperator.k8s.io/app-name": app.name },
    ownerReferences: [{ ...reference(app), controller: true, blockOwnerDeletion: true }],
  },
});

const keepEvidence = "spark.kubernetes.executor.deleteOnTermination";
const executorGrace = "spark.kubernetes.executor.terminationGracePeriodSeconds";

/** Confs that the user has not set: put first, so that the user's win. */
export const confs = (spec: SparkApplicationSpec, rules: Rules): readonly Pair[] => {
  const grace = spec.executor.terminationGracePeriodSeconds;
  return [
    // Spark deletes a lost executor's pod 90 ms after the loss, and the reason with it.
    [keepEvidence, "false"],
    // From 4.1 on Spark overwrites what the template says.
    ...(grace === undefined || !rules.executorGraceConf ? [] : [[executorGrace, `${grace}s`] as const]),
  ];
};
