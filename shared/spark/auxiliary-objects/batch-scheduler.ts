/** Batch schedulers: the fields that each needs in an application's pods, and its PodGroup with the application's resource
 * requests, as upstream's resourceusage package. */

import type { Resource } from "../../core/object.ts";
import { derivedLabel } from "../../kube/names.ts";
import { bytesOf, ratioOf } from "../configuration/conf.ts";
import { scaleOf } from "../executors/demand.ts";
import type { SparkApplicationSpec, SparkPodSpec } from "../schema/application.ts";
import { volcanoPodGroups } from "../schema/resource.ts";
import { type AuxiliaryObject, metadataOf, objectOf, type Subject } from "./object.ts";
import type { Options } from "./options.ts";

type Amounts = { readonly cpu: string; readonly memory: string };

const mebi = 2 ** 20;
const leastOverhead = 384 * mebi;

const cpuOf = ({ cores, coreRequest }: SparkPodSpec): string => coreRequest ?? `${cores ?? 1}`;

const factorOf = ({ memoryOverheadFactor, type }: SparkApplicationSpec): number =>
  ratioOf(memoryOverheadFactor ?? "") ?? (type === "Java" || type === "Scala" ? 0.1 : 0.4);

const bytesOfPod = (spec: SparkApplicationSpec, { memory, memoryOverhead }: SparkPodSpec): number => {
  const bytes = bytesOf(memory ?? "", "m") ?? 0;
  const overhead =
    memoryOverhead === undefined
      ? Math.floor(Math.max(bytes * factorOf(spec), leastOverhead))
      : (bytesOf(memoryOverhead, "m") ?? 0);
  return bytes + overhead;
};

/** Memory of executors that only confs ask for, bytes. */
const besides = ({ type, sparkConf = {} }: SparkApplicationSpec): number => {
  const python = type === "Python" ? (bytesOf(sparkConf["spark.executor.pyspark.memory"] ?? "", "m") ?? 0) : 0;
  const offHeap = (sparkConf["spark.memory.offHeap.enabled"] ?? "false") !== "false";
  return python + (offHeap ? (bytesOf(sparkConf["spark.memory.offHeap.size"] ?? "", "b") ?? 0) : 0);
};

const inMebi = (bytes: number): string => `${Math.floor(bytes / mebi)}Mi`;

export const driverAmounts = (spec: SparkApplicationSpec): Amounts => ({
  cpu: cpuOf(spec.driver),
  memory: inMebi(bytesOfPod(spec, spec.driver)),
});

export const executorAmounts = (spec: SparkApplicationSpec): Amounts => ({
  cpu: cpuOf(spec.executor),
  memory: inMebi(bytesOfPod(spec, spec.executor) + besides(spec)),
});

/** The number of executors that the driver requests at its start: by fields, as upstream, and by confs of dynamic allocation. */
export const firstExecutors = (spec: SparkApplicationSpec): number => {
  const { minExecutors = 0, initialExecutors = 0 } = spec.dynamicAllocation ?? {};
  return Math.max(0, spec.executor.instances ?? 0, minExecutors, initialExecutors, scaleOf(spec)?.initial ?? 0);
};

/** Thousandths of a quantity of cores; 0 for an invalid one, which was refused before. */
const milliOf = (text: string): number => {
  const [, amount = "0", unit = ""] = /^([\d.]+)(m?)$/.exec(text) ?? [];
  return Math.ceil(Number(amount) * (unit === "m" ? 1 : 1_000));
};

const mebiOf = ({ memory }: Amounts): number => Number.parseInt(memory, 10);

type Role = "driver" | "executor";

/** The spec with the cores and memory that a role gets from confs, or by Spark's default. */
const completed = (spec: SparkApplicationSpec, role: Role): SparkApplicationSpec => {
  const { sparkConf = {} } = spec;
  const cores = Number(sparkConf[`spark.${role}.cores`] ?? 1);
  const coreRequest = sparkConf[`spark.kubernetes.${role}.request.cores`];
  const memory = sparkConf[`spark.${role}.memory`] ?? "1g";
  const given = { cores, memory, ...(coreRequest === undefined ? {} : { coreRequest }) };
  return { ...spec, [role]: { ...given, ...spec[role] } };
};

/** A record holds whole numbers only: an amount beyond them counts as none. */
const whole = (amount: number): number => (Number.isSafeInteger(amount) ? amount : 0);

/** The requests of a run's driver and of each executor: thousandths of a core, and MiB; 0 for what no number holds. */
export const needsOf = (spec: SparkApplicationSpec): [number, number, number, number] => {
  const driver = driverAmounts(completed(spec, "driver"));
  const executor = executorAmounts(completed(spec, "executor"));
  return [whole(milliOf(driver.cpu)), whole(mebiOf(driver)), whole(milliOf(executor.cpu)), whole(mebiOf(executor))];
};

/** Writes MiB in the largest unit that gives a whole number, as Kubernetes does. */
const binary = (amount: number): string => {
  const units = ["Mi", "Gi", "Ti", "Pi"];
  let at = 0;
  let left = amount;
  while (left >= 1_024 && left % 1_024 === 0 && at < units.length - 1) {
    left /= 1_024;
    at += 1;
  }
  return `${left}${units[at]}`;
};

/** Driver and first executors together. */
export const totalAmounts = (spec: SparkApplicationSpec): Amounts => {
  const driver = driverAmounts(spec);
  const executor = executorAmounts(spec);
  const count = firstExecutors(spec);
  const milli = milliOf(driver.cpu) + count * milliOf(executor.cpu);
  return {
    cpu: milli % 1_000 === 0 ? `${milli / 1_000}` : `${milli}m`,
    memory: binary(mebiOf(driver) + count * mebiOf(executor)),
  };
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

/** The name of an application's PodGroup. */
export const groupNameOf = (name: string): string => `spark-${name}-pg`;

/** True when the user names a group, which Rekindle does not change. */
export const hasOwnGroup = ({ driver }: SparkApplicationSpec): boolean => driver.annotations?.[groupName] !== undefined;

/** The fields of a PodGroup by which its queue is to admit it. */
export const groupFields = (spec: SparkApplicationSpec) => {
  const { queue, priorityClassName, resources } = spec.batchSchedulerOptions ?? {};
  const given = Object.keys(resources ?? {}).length > 0;
  return {
    minResources: given ? resources : totalAmounts(spec),
    ...(queue === undefined ? {} : { queue }),
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
  };
};

const volcano: Scheduler = {
  arranged: ({ name, spec }) =>
    hasOwnGroup(spec) ? spec : both(spec, { annotations: { [groupName]: groupNameOf(name) } }),
  companions: (subject) => {
    const { name, spec } = subject;
    if (spec.driver.annotations?.[groupName] !== groupNameOf(name)) return [];
    const object = objectOf(volcanoPodGroups, metadataOf(subject, { name: groupNameOf(name) }), {
      minMember: 1,
      ...groupFields(spec),
    });
    return [{ resource: volcanoPodGroups, optional: false, object }];
  },
};

const podGroupLabel = "scheduling.x-k8s.io/pod-group";

/** The group's name, which is also a label's value. */
const coschedulingName = (name: string): string => derivedLabel(name, "pg");

const coscheduling: Scheduler = {
  arranged: ({ name, spec }) => both(spec, { labels: { [podGroupLabel]: coschedulingName(name) } }),
  companions: (subject) => {
    const object = objectOf(coschedulingPodGroups, metadataOf(subject, { name: coschedulingName(subject.name) }), {
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

export const batchSchedulerObjects = (subject: Subject): readonly AuxiliaryObject[] =>
  schedulerOf(subject.spec, subject.options)?.companions(subject) ?? [];
