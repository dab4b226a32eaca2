/** Batch schedulers: the fields that each needs in an application's pods, and its PodGroup with the requests of the pods
 * with which a run begins. */

import type { Resource } from "../../core/object.ts";
import { derivedLabel } from "../../kube/names.ts";
import type { SparkApplicationSpec, SparkPodSpec } from "../schema/application.ts";
import { volcanoPodGroups } from "../schema/resource.ts";
import { type PlannedPods, statedRequests, statedTotal } from "../submission/planned-pods.ts";
import { submit } from "../submission/submit.ts";
import { type AuxiliaryObject, metadataOf, objectOf, type Subject } from "./object.ts";
import type { Options } from "./options.ts";

export const coschedulingPodGroups: Resource = {
  group: "scheduling.x-k8s.io",
  version: "v1alpha1",
  plural: "podgroups",
  kind: "PodGroup",
};

type Named = Pick<Subject, "name" | "namespace" | "uid" | "spec" | "options">;

type Scheduler = {
  /** Adds the scheduler's fields to the pods. */
  readonly arranged: (named: Named) => SparkApplicationSpec;
  /** The objects to create for the scheduler. */
  readonly companions: (subject: Subject, planned: PlannedPods) => readonly AuxiliaryObject[];
};

type Texts = Readonly<Record<string, string>>;

/** Adds labels and annotations to one role's pods; `over` wins over what the user wrote. */
const marked = <Pod extends SparkPodSpec>(pod: Pod, over: { labels?: Texts; annotations?: Texts }): Pod => ({
  ...pod,
  ...(over.labels === undefined ? {} : { labels: { ...pod.labels, ...over.labels } }),
  ...(over.annotations === undefined ? {} : { annotations: { ...pod.annotations, ...over.annotations } }),
});

const both = (spec: SparkApplicationSpec, over: { labels?: Texts; annotations?: Texts }): SparkApplicationSpec => ({
  ...spec,
  driver: marked(spec.driver, over),
  executor: marked(spec.executor, over),
});

const groupName = "scheduling.k8s.io/group-name";

/** The name of an application's PodGroup. */
export const groupNameOf = (name: string): string => `spark-${name}-pg`;

/** True when the user names a group, which Rekindle does not change. */
export const hasOwnGroup = ({ driver }: SparkApplicationSpec): boolean => driver.annotations?.[groupName] !== undefined;

/** The fields of a PodGroup by which its queue is to admit it. */
export const groupFields = (spec: SparkApplicationSpec, planned: PlannedPods) => {
  const { queue, priorityClassName, resources } = spec.batchSchedulerOptions ?? {};
  const given = Object.keys(resources ?? {}).length > 0;
  return {
    minResources: given ? resources : statedTotal(planned),
    ...(queue === undefined ? {} : { queue }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  };
};

const volcano: Scheduler = {
  arranged: ({ name, spec }) =>
    hasOwnGroup(spec) ? spec : both(spec, { annotations: { [groupName]: groupNameOf(name) } }),
  companions: (subject, planned) => {
    const { name, spec } = subject;
    if (spec.driver.annotations?.[groupName] !== groupNameOf(name)) return [];
    const object = objectOf(volcanoPodGroups, metadataOf(subject, { name: groupNameOf(name) }), {
      minMember: 1,
      ...groupFields(spec, planned),
    });
    return [{ resource: volcanoPodGroups, optional: false, object }];
  },
};

const podGroupLabel = "scheduling.x-k8s.io/pod-group";

/** The group's name, which is also a label's value. */
const coschedulingName = (name: string): string => derivedLabel(name, "pg");

const coscheduling: Scheduler = {
  arranged: ({ name, spec }) => both(spec, { labels: { [podGroupLabel]: coschedulingName(name) } }),
  companions: (subject, planned) => {
    const object = objectOf(coschedulingPodGroups, metadataOf(subject, { name: coschedulingName(subject.name) }), {
      minMember: 1,
      minResources: statedTotal(planned),
    });
    return [{ resource: coschedulingPodGroups, optional: false, object }];
  },
};

const taskGroup = "yunikorn.apache.org/task-group-name";

type TaskGroup = {
  readonly name: string;
  readonly minMember: number;
  readonly minResource: Texts;
  readonly spec: SparkApplicationSpec;
  readonly pod: SparkPodSpec;
};

const taskGroupOf = ({ spec, pod, ...group }: TaskGroup) => {
  const nodeSelector = { ...spec.nodeSelector, ...pod.nodeSelector };
  return {
    ...group,
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(pod.tolerations === undefined ? {} : { tolerations: pod.tolerations }),
    ...(pod.affinity === undefined ? {} : { affinity: pod.affinity }),
    ...(pod.labels === undefined ? {} : { labels: pod.labels }),
  };
};

const apiServer = "https://kubernetes.default.svc";

/** The task groups, which are marks of the pods that they count; none of a run whose submission is refused. */
const taskGroups = ({ name, namespace, uid, spec }: Named): string => {
  const made = submit({ app: { name, namespace, uid }, spec, attempt: 1, submittedAt: 0, apiServer });
  if ("refused" in made) return "[]";
  const { driver, executor, executors } = made.planned;
  const first = { name: "spark-driver", minMember: 1, minResource: statedRequests(driver), spec, pod: spec.driver };
  // YuniKorn takes no group of 0 pods.
  if (executor === undefined || executors === 0) return JSON.stringify([taskGroupOf(first)]);
  const minResource = statedRequests(executor);
  const others = { name: "spark-executor", minMember: executors, minResource, spec, pod: spec.executor };
  return JSON.stringify([first, others].map(taskGroupOf));
};

const yunikorn: Scheduler = {
  arranged: (named) => {
    const { spec } = named;
    const { queue } = spec.batchSchedulerOptions ?? {};
    const labels = queue === undefined ? {} : { labels: { queue } };
    const groups = { [taskGroup]: "spark-driver", "yunikorn.apache.org/task-groups": taskGroups(named) };
    return {
      ...spec,
      driver: marked(spec.driver, { ...labels, annotations: groups }),
      executor: marked(spec.executor, { ...labels, annotations: { [taskGroup]: "spark-executor" } }),
    };
  },
  companions: () => [],
};

const nameOf = (spec: SparkApplicationSpec, { defaultBatchScheduler }: Options): string =>
  spec.batchScheduler || defaultBatchScheduler;

/** True for an application whose PodGroup Volcano's scheduler would admit. */
export const asksForVolcano = (spec: SparkApplicationSpec, options: Options): boolean =>
  options.batchScheduler && nameOf(spec, options) === "volcano";

/** The batch scheduler by its name; an unknown name is only the pods' schedulerName. */
const schedulerOf = (spec: SparkApplicationSpec, options: Options): Scheduler | undefined => {
  if (!options.batchScheduler) return undefined;
  const name = nameOf(spec, options);
  if (name === "volcano") return volcano;
  if (name === "yunikorn") return yunikorn;
  return options.kubeSchedulerNames.includes(name) ? coscheduling : undefined;
};

/** The spec with the fields of its batch scheduler, and with the deployment's default scheduler if it names none. */
export const withBatchScheduler = (named: Named): SparkApplicationSpec => {
  const { spec, options } = named;
  const scheduler = schedulerOf(spec, options);
  if (scheduler === undefined) return spec;
  return { ...scheduler.arranged(named), batchScheduler: nameOf(spec, options) };
};

export const batchSchedulerObjects = (subject: Subject, planned: PlannedPods): readonly AuxiliaryObject[] =>
  schedulerOf(subject.spec, subject.options)?.companions(subject, planned) ?? [];
