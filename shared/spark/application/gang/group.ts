/**
 * The group of an application's driver and initial executors: the application's spec with the marks of its members, and
 * the PodGroup that states them, from which an admission round plans their places.
 */
import { fieldsOf, same } from "../../../core/json.ts";
import type { Obj, Stored } from "../../../core/object.ts";
import { type GangMembers, memberKeys, membersKey, schedulingPart } from "../../../kube/gang-members.ts";
import { placer } from "../../../kube/gang-plan.ts";
import type { Json } from "../../../kube/responses.ts";
import { only } from "../../../kube/trim.ts";
import { subjectOf } from "../../auxiliary-objects/all.ts";
import {
  asksForVolcano,
  executorAmounts,
  firstExecutors,
  groupFields,
  groupNameOf,
  hasOwnGroup,
} from "../../auxiliary-objects/batch-scheduler.ts";
import { metadataOf, objectOf } from "../../auxiliary-objects/object.ts";
import { executorOf } from "../../executor-pod/builder.ts";
import { firstId } from "../../executors/allotment.ts";
import { admittedBy, wantedOf } from "../../executors/owner.ts";
import type { SparkApplicationSpec, SparkPodSpec } from "../../schema/application.ts";
import { volcanoPodGroups } from "../../schema/resource.ts";
import { addedLabels, foundBy } from "../../submission/additions.ts";
import type { ApplicationContext } from "../run/context.ts";
import { executorBasis } from "../run/submit.ts";
import type { Driver } from "../state/memory.ts";

/** The tasks of the group. */
export const driverTask = "driver";
export const executorTask = "executor";

/** True for an application whose driver and executors start as one group. */
export const isGang = ({ read, policies, settings }: ApplicationContext): boolean =>
  read.ok && !hasOwnGroup(read.spec) && (policies.gang === "true" || asksForVolcano(read.spec, settings.options));

const markedPod = <Pod extends SparkPodSpec>(pod: Pod, name: string, task: string): Pod => ({
  ...pod,
  annotations: { ...pod.annotations, [memberKeys.group]: groupNameOf(name), [memberKeys.task]: task },
});

/** The context with the spec whose pods are marked as members, and go to the scheduler of plans. */
export const withMembership = (context: ApplicationContext): ApplicationContext => {
  const { read, key } = context;
  if (!read.ok) return context;
  const driver = markedPod(read.spec.driver, key.name, driverTask);
  const executor = markedPod(read.spec.executor, key.name, executorTask);
  return { ...context, read: { ...read, spec: { ...read.spec, batchScheduler: placer, driver, executor } } };
};

const ofAttempt: readonly string[] = [...addedLabels, ...foundBy, "spark-app-selector", "spark-exec-id"];

/** The labels that pods of every attempt have. */
const lastingLabels = ({ metadata: { labels = {} } }: Pick<Obj, "metadata">): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(labels).filter(([name]) => !ofAttempt.includes(name)));

/** An executor whose pod cannot be built here: only its driver knows all of it. */
const roughly = (spec: SparkApplicationSpec): Json => {
  const { nodeSelector, tolerations, affinity } = spec.executor;
  return {
    nodeSelector: { ...spec.nodeSelector, ...nodeSelector },
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(affinity === undefined ? {} : { affinity }),
    containers: [{ name: "executor", resources: { requests: executorAmounts(spec) } }],
  };
};

/** Builds an executor as the allocator would, whoever that is. */
const executorPod = (context: ApplicationContext, driver: Driver): Obj | undefined => {
  const basis = executorBasis(context, driver);
  if (basis === undefined) return undefined;
  const host = { name: driver.podName, uid: "", ip: undefined };
  const one = executorOf({ ...basis, executorId: `${firstId}`, driver: host });
  return "refused" in one ? undefined : one.pod;
};

const membersFor = (
  context: ApplicationContext,
  spec: SparkApplicationSpec,
  { driver, pod }: { readonly driver: Driver; readonly pod: Obj },
): GangMembers => {
  const { executors: most = Number.POSITIVE_INFINITY } = admittedBy({ ...context.object.metadata, spec }) ?? {};
  const count = Math.min(most, Math.max(wantedOf(spec), firstExecutors(spec)));
  const one = executorPod(context, driver);
  const executors = {
    ...{ task: executorTask, count, after: driverTask },
    spec: schedulingPart(one === undefined ? roughly(spec) : fieldsOf(one.spec)),
    labels: one === undefined ? {} : lastingLabels(one),
  };
  const first = { task: driverTask, count: 1, spec: schedulingPart(fieldsOf(pod.spec)), labels: lastingLabels(pod) };
  return { members: [first, ...(count === 0 ? [] : [executors])], required: context.policies.gangRequired === "true" };
};

/** The PodGroup of an attempt, made from its driver's pod. `context`: with the arranged spec. */
export const groupFor = (context: ApplicationContext, driver: Driver, pod: Obj): Obj | undefined => {
  const { key, view, read, settings } = context;
  if (!read.ok) return undefined;
  const of = { name: key.name, namespace: key.namespace, uid: view.uid, spec: read.spec, options: settings.options };
  const subject = { ...subjectOf(of, driver.attempt), driverPodName: driver.podName };
  const stated = membersFor(context, subject.spec, { driver, pod });
  const annotations = { [membersKey]: JSON.stringify(stated) };
  return objectOf(volcanoPodGroups, metadataOf(subject, { name: groupNameOf(key.name), annotations }), {
    minMember: stated.members.reduce((sum, { count }) => sum + count, 0),
    ...groupFields(subject.spec),
  });
};

const defaultQueue = "default";

const asked = (group: Obj): unknown => {
  const spec = fieldsOf(group.spec);
  const { [membersKey]: members } = group.metadata.annotations ?? {};
  return [members, spec["queue"] ?? defaultQueue, only(spec, ["priorityClassName", "minMember"])];
};

/** True for a group that states what this one would state. */
export const isSame = (group: Stored, desired: Obj): boolean => same(asked(group), asked(desired));
