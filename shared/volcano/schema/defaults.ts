/** The defaults of upstream's mutating webhook, kept here so that a job without a webhook is the same job. */
import type { JobSpec, Task } from "./spec.ts";
import { leastOf, replicasOf } from "./spec.ts";

const defaultRetries = 3;

const positive = (number: number | undefined): number => number ?? 0;

/** Returns the pods of the least partitions of a task; 0 if it asks for none. */
const leastPartitioned = ({ partitionPolicy }: Task): number =>
  positive(partitionPolicy?.minPartitions) * positive(partitionPolicy?.partitionSize);

const least = (task: Task): number => {
  const partitioned = leastPartitioned(task);
  return partitioned > 0 ? partitioned : replicasOf(task);
};

const needsHostDns = ({ template }: Task): boolean =>
  template?.spec?.["hostNetwork"] === true && (template.spec["dnsPolicy"] ?? "") === "";

const defaultedTask = (task: Task, index: number): Task => ({
  ...task,
  name: task.name === undefined || task.name === "" ? `default${index}` : task.name,
  minAvailable: task.minAvailable ?? least(task),
  maxRetry: positive(task.maxRetry) === 0 ? defaultRetries : positive(task.maxRetry),
  ...(needsHostDns(task)
    ? { template: { ...task.template, spec: { ...task.template?.spec, dnsPolicy: "ClusterFirstWithHostNet" } } }
    : {}),
});

/** Plugins whose pods find each other by the names that `svc` makes. */
const reachable = ["tensorflow", "mpi", "pytorch", "ray"];

const defaultedPlugins = (plugins: NonNullable<JobSpec["plugins"]>): NonNullable<JobSpec["plugins"]> => ({
  ...plugins,
  ...(reachable.some((name) => Object.hasOwn(plugins, name)) && !Object.hasOwn(plugins, "svc") ? { svc: [] } : {}),
  ...(Object.hasOwn(plugins, "mpi") && !Object.hasOwn(plugins, "ssh") ? { ssh: [] } : {}),
});

const unset = (text: string | undefined): boolean => text === undefined || text === "";

/** Returns the spec with its defaults, as all later code reads it. Applied twice, it changes nothing more. */
export const defaulted = (spec: JobSpec, schedulerName = "volcano"): JobSpec => {
  const tasks = spec.tasks?.map(defaultedTask);
  const asked = positive(spec.minAvailable);
  return {
    ...spec,
    queue: unset(spec.queue) ? "default" : spec.queue,
    schedulerName: unset(spec.schedulerName) ? schedulerName : spec.schedulerName,
    maxRetry: positive(spec.maxRetry) === 0 ? defaultRetries : spec.maxRetry,
    minAvailable: asked === 0 ? (tasks ?? []).reduce((sum, task) => sum + leastOf(task), 0) : asked,
    ...(tasks === undefined ? {} : { tasks }),
    ...(spec.plugins === undefined ? {} : { plugins: defaultedPlugins(spec.plugins) }),
  };
};
