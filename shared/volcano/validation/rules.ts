/** The rules of upstream's validating webhook for a new job, in its words: one text, empty if nothing is wrong. */

import { fieldsOf, isRecord } from "../../core/json.ts";
import { qualifiedNameErrors, subdomainErrors } from "../../kube/names.ts";
import { quantityOf } from "../../kube/quantity.ts";
import type { Json } from "../../kube/responses.ts";
import { mpiMaster } from "../plugins/frameworks.ts";
import { isPlugin } from "../plugins/plugin.ts";
import { isMadeClaim } from "../pods/names.ts";
import { policySaying } from "../schema/policies.ts";
import {
  containersIn,
  formsDag,
  goList,
  type JobSpec,
  type NetworkTopology,
  nameOf,
  replicasOf,
  type Task,
  tasksOf,
  templateSaying,
  totalReplicas,
  type Volume,
} from "../schema/spec.ts";

const listIn = (container: Json, what: "requests" | "limits"): Json => {
  const resources = container["resources"];
  const list = isRecord(resources) ? resources[what] : undefined;
  return fieldsOf(list);
};

/** Returns the requests of a container; without any, its limits count as requests. */
const requestsOf = (container: Json): Json => {
  const requests = listIn(container, "requests");
  return Object.keys(requests).length === 0 ? listIn(container, "limits") : requests;
};

const amount = (list: Json, name: string): bigint | undefined => quantityOf(list[name])?.nano;

const isGuaranteed = (container: Json): boolean =>
  ["cpu", "memory"].every((name) => {
    const limit = amount(listIn(container, "limits"), name);
    return limit !== undefined && limit > 0n && amount(requestsOf(container), name) === limit;
  });

const asksForAny = (container: Json): boolean =>
  ["cpu", "memory"].some((name) => [requestsOf(container), listIn(container, "limits")].some((list) => name in list));

const wholeCpus = 1_000_000_000n;

const hasWholeCpus = (container: Json): boolean => {
  const cpus = amount(requestsOf(container), "cpu") ?? 0n;
  return cpus > 0n && cpus % wholeCpus === 0n;
};

/** Returns the first error; empty if there is none. */
const numaSaying = (task: Task, index: number): string => {
  if ((task.topologyPolicy ?? "") === "" || task.topologyPolicy === "none") return "";
  const containers = [...containersIn(task.template?.spec), ...containersIn(task.template?.spec, "initContainers")];
  if (containers.length === 0 || !containers.every(isGuaranteed)) {
    const kind = containers.some(asksForAny) ? "Burstable" : "BestEffort";
    return `spec.task[${index}] isn't Guaranteed pod, kind=${kind}`;
  }
  const partial = containers.findIndex((container) => !hasWholeCpus(container));
  return partial < 0 ? "" : `the cpu request isn't  an integer in spec.task[${index}] container[${partial}].`;
};

const claimConflict = [
  "conflict: If you want to use an existing PVC, just specify VolumeClaimName.",
  "If you want to create a new PVC, you do not need to specify VolumeClaimName",
].join("");

const errorOf = ({ mountPath = "", volumeClaim, volumeClaimName = "" }: Volume, taken: ReadonlySet<string>): string => {
  if (mountPath === "") return " mountPath is required;";
  if (taken.has(mountPath)) return ` duplicated mountPath: ${mountPath};`;
  if (volumeClaim === undefined && volumeClaimName === "")
    return " either VolumeClaim or VolumeClaimName must be specified;";
  if (volumeClaimName === "") return "";
  if (volumeClaim !== undefined) return claimConflict;
  const errors = subdomainErrors(volumeClaimName);
  return errors.length === 0 ? "" : `invalid VolumeClaimName ${volumeClaimName} : ${goList(errors)}`;
};

/** Checks a job's volumes, in upstream's words; empty if nothing is wrong. */
const volumeSaying = (volumes: readonly Volume[]): string => {
  const taken = new Set<string>();
  for (const volume of volumes) {
    const error = errorOf(volume, taken);
    if (error !== "") return error;
    taken.add(volume.mountPath ?? "");
  }
  return "";
};

const twoTiers = "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously";

const topologySaying = (topology: NetworkTopology | undefined): string =>
  topology?.highestTierAllowed !== undefined && (topology.highestTierName ?? "") !== "" ? twoTiers : "";

/** Checks that the partitions make up the task, and that the least partitions make up its minAvailable. */
const partitionSaying = (task: Task, job: string): string => {
  const { partitionPolicy: policy } = task;
  if (policy === undefined) return "";
  const { totalPartitions = 0, partitionSize = 0, minPartitions = 0 } = policy;
  const where = ` in task: ${nameOf(task)}, job: ${job}`;
  if (totalPartitions <= 0) return `'TotalPartitions' must be greater than 0${where}`;
  if (partitionSize <= 0) return `'PartitionSize' must be greater than 0${where}`;
  if (replicasOf(task) !== totalPartitions * partitionSize)
    return `'Replicas' are not equal to TotalPartitions*PartitionSize${where}`;
  const uneven = minPartitions > 0 && task.minAvailable !== undefined;
  if (uneven && task.minAvailable !== minPartitions * partitionSize)
    return `'MinAvailable' is not equal to MinPartitions*PartitionSize${where}`;
  return topologySaying(policy.networkTopology);
};

const leastSaying = (task: Task, job: string): string =>
  task.minAvailable !== undefined && task.minAvailable > replicasOf(task)
    ? ` 'minAvailable' is greater than 'replicas' in task: ${nameOf(task)}, job: ${job};`
    : "";

/** Checks the name that stands for the task's pods; as upstream, with the task's own index. */
const podNameSaying = (job: string, task: Task, index: number): string => {
  const name = `${job}-${nameOf(task)}-${index}`;
  const errors = qualifiedNameErrors(name);
  return errors.length === 0 ? "" : `create pod with name ${name} validate failed ${goList(errors)};`;
};

const taskSaying = (job: string, task: Task, index: number): string =>
  [
    policySaying(task.policies ?? [], "spec.tasks.policies"),
    podNameSaying(job, task, index),
    templateSaying(task, index) || numaSaying(task, index),
    partitionSaying(task, job),
  ].join("");

/** Checks the tasks in order, up to the first name that occurs twice. */
const tasksSaying = (job: string, tasks: readonly Task[]): string => {
  const names = new Set<string>();
  let problems = "";
  for (const [index, task] of tasks.entries()) {
    problems += leastSaying(task, job);
    const name = nameOf(task);
    if (names.has(name)) return `${problems} duplicated task name ${name};`;
    names.add(name);
    problems += taskSaying(job, task, index);
  }
  return problems;
};

const jobNameSaying = (job: string): string => {
  const errors = qualifiedNameErrors(job);
  return errors.length === 0 ? "" : `create job with name ${job} validate failed ${goList(errors)}`;
};

const pluginSaying = ({ plugins = {} }: JobSpec): string =>
  Object.keys(plugins)
    .filter((name) => !isPlugin(name))
    .map((name) => ` unable to find job plugin: ${name};`)
    .join("");

const masterless = ({ plugins = {}, tasks = [] }: JobSpec): boolean => {
  if (!Object.hasOwn(plugins, "mpi")) return false;
  const master = mpiMaster(plugins["mpi"] ?? []);
  return !tasks.some((task) => nameOf(task) === master);
};

/** Removes the name of a claim that a controller wrote beside the volumeClaim: it is not the user's. */
const asWritten =
  (job: string) =>
  (volume: Volume): Volume => {
    const { volumeClaimName = "", ...rest } = volume;
    return volume.volumeClaim !== undefined && isMadeClaim(job, volumeClaimName) ? rest : volume;
  };

const cyclic = " job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG);";

/**
 * Returns everything that is wrong with a job. `queueSaying` is what is wrong with its queue, from a caller that can
 * read queues. Expects the spec with its defaults.
 */
export const refusalOf = (job: string, spec: JobSpec, queueSaying = ""): string => {
  const tasks = tasksOf(spec);
  if (tasks.length === 0) return "No task specified in job spec";
  if (masterless(spec)) return "The specified mpi master task was not found";
  const depends = tasks.some(({ dependsOn }) => dependsOn !== undefined);
  return [
    topologySaying(spec.networkTopology),
    tasksSaying(job, tasks),
    jobNameSaying(job),
    totalReplicas(spec) < (spec.minAvailable ?? 0)
      ? " job 'minAvailable' should not be greater than total replicas in tasks;"
      : "",
    policySaying(spec.policies ?? [], "spec.policies"),
    pluginSaying(spec),
    volumeSaying((spec.volumes ?? []).map(asWritten(job))),
    queueSaying,
    depends && !formsDag(tasks) ? cyclic : "",
  ].join("");
};
