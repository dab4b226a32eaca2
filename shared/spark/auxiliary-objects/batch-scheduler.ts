/** Batch schedulers: the fields that each needs in an application's pods, and its PodGroup. */
import type { Resource } from "../../core/object.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import type { SparkPodSpec } from "../schema/pod.ts";
import { driverAmounts, executorAmounts, firstExecutors, totalAmounts } from "./amounts.ts";
import { type AuxiliaryObject, metadataOf, objectOf, type Subject } from "./object.ts";
import type { Options } from "./options.ts";

export const volcanoPodGroups: Resource = {
  group: "scheduling.volcano.sh",
  version: "v1beta1",
  plural: "podgroups",
  kind: "PodGroup",
};

export const coschedulingPodGroups: Resource = {
  group: "scheduling.x-k8s.io",
  version: "v1alpha1",
  plural: "podgroups",
  kind: "PodGroup",
};

type Named = { readonly name: string; readonly spec: SparkApplicationSpec; readonly options: Options };

type Scheduler = {
  /** Adds the scheduler's fields to the pods. */
  readonly arranged: (named: Named) => SparkApplicationSpec;
  /** The objects to create for the scheduler. */
  readonly companions: (subject: Subject) => readonly AuxiliaryObject[];
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

/** True when the user names a group, which Rekindle does not change. */
const hasOwnGroup = ({ driver }: SparkApplicationSpec): boolean => driver.annotations?.[groupName] !== undefined;

const volcano: Scheduler = {
  arranged: ({ name, spec }) =>
    hasOwnGroup(spec) ? spec : both(spec, { annotations: { [groupName]: `spark-${name}-pg` } }),
  companions: (subject) => {
    const { name, spec } = subject;
    if (spec.driver.annotations?.[groupName] !== `spark-${name}-pg`) return [];
    const { queue, priorityClassName, resources } = spec.batchSchedulerOptions ?? {};
    const given = Object.keys(resources ?? {}).length > 0;
    const object = objectOf(volcanoPodGroups, metadataOf(subject, { name: `spark-${name}-pg` }), {
      minMember: 1,
      minResources: given ? resources : totalAmounts(spec),
      ...(queue === undefined ? {} : { queue }),
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
    });
    return [{ resource: volcanoPodGroups, optional: false, object }];
  },
};

const podGroupLabel = "scheduling.x-k8s.io/pod-group";

const coscheduling: Scheduler = {
  arranged: ({ name, spec }) => both(spec, { labels: { [podGroupLabel]: `${name}-pg` } }),
  companions: (subject) => {
    const object = objectOf(coschedulingPodGroups, metadataOf(subject, { name: `${subject.name}-pg` }), {
      minMember: 1,
      minResources: totalAmounts(subject.spec),
    });
    return [{ resource: coschedulingPodGroups, optional: false, object }];
  },
};

const taskGroup = "yunikorn.apache.org/task-group-name";

const taskGroupOf = (name: string, minMember: number, spec: SparkApplicationSpec, pod: SparkPodSpec) => {
  const nodeSelector = { ...spec.nodeSelector, ...pod.nodeSelector };
  return {
    name,
    minMember,
    minResource: pod === spec.driver ? driverAmounts(spec) : executorAmounts(spec),
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(pod.tolerations === undefined ? {} : { tolerations: pod.tolerations }),
    ...(pod.affinity === undefined ? {} : { affinity: pod.affinity }),
    ...(pod.labels === undefined ? {} : { labels: pod.labels }),
  };
};

/** The task groups. YuniKorn takes no group of 0 pods. */
const taskGroups = (spec: SparkApplicationSpec): string => {
  const count = firstExecutors(spec);
  return JSON.stringify([
    taskGroupOf("spark-driver", 1, spec, spec.driver),
    ...(count === 0 ? [] : [taskGroupOf("spark-executor", count, spec, spec.executor)]),
  ]);
};

const yunikorn: Scheduler = {
  arranged: ({ spec }) => {
    const { queue } = spec.batchSchedulerOptions ?? {};
    const labels = queue === undefined ? {} : { labels: { queue } };
    const groups = { [taskGroup]: "spark-driver", "yunikorn.apache.org/task-groups": taskGroups(spec) };
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

/** The batch scheduler by its name; an unknown name is only the pods' schedulerName. */
const schedulerOf = (spec: SparkApplicationSpec, options: Options): Scheduler | undefined => {
  if (!options.batchScheduler) return undefined;
  const name = nameOf(spec, options);
  if (name === "volcano") return volcano;
  if (name === "yunikorn") return yunikorn;
  return options.kubeSchedulerNames.includes(name) ? coscheduling : undefined;
};

/** The spec with the fields of its batch scheduler, and with the deployment's default scheduler if it names none. */
export const arranged = (named: Named): SparkApplicationSpec => {
  const { spec, options } = named;
  const scheduler = schedulerOf(spec, options);
  if (scheduler === undefined) return spec;
  return { ...scheduler.arranged(named), batchScheduler: nameOf(spec, options) };
};

export const batchSchedulerObjects = (subject: Subject): readonly AuxiliaryObject[] =>
  schedulerOf(subject.spec, subject.options)?.companions(subject) ?? [];
