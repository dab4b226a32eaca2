/**
 * The group of an application's driver and initial executors: the application's spec with the marks of its members, and
 * the PodGroup that states them, from which an admission round plans their places.
 */
import type { Obj } from "../../../core/object.ts";
import { memberKeys } from "../../../kube/gang-members.ts";
import { placer } from "../../../kube/gang-plan.ts";
import { subjectOf } from "../../auxiliary-objects/all.ts";
import { asksForVolcano, groupFields, groupNameOf, hasOwnGroup } from "../../auxiliary-objects/batch-scheduler.ts";
import { metadataOf, objectOf } from "../../auxiliary-objects/object.ts";
import type { SparkPodSpec } from "../../schema/application.ts";
import { volcanoPodGroups } from "../../schema/resource.ts";
import type { ApplicationContext } from "../run/context.ts";
import { plannedPods } from "../run/submit.ts";
import type { Driver } from "../state/memory.ts";
import { driverTask, executorTask, statedGroup } from "./places.ts";

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

/** The PodGroup of an attempt, from the pods with which its run begins. `context`: with the arranged spec. */
export const groupFor = (context: ApplicationContext, driver: Driver): Obj | undefined => {
  const { key, view, read, settings } = context;
  const planned = plannedPods(context, driver);
  if (!read.ok || planned === undefined) return undefined;
  const of = { name: key.name, namespace: key.namespace, uid: view.uid, spec: read.spec, options: settings.options };
  const subject = { ...subjectOf(of, driver.attempt), driverPodName: driver.podName };
  const { annotations, minMember } = statedGroup(planned, context.policies.gangRequired === "true");
  return objectOf(volcanoPodGroups, metadataOf(subject, { name: groupNameOf(key.name), annotations }), {
    minMember,
    ...groupFields(subject.spec, planned),
  });
};
