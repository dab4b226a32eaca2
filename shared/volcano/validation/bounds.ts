/** Checks that upstream leaves to its CRD's schema or does not make, by field: numbers, durations, amounts, names. */
import { durationMs } from "../schema/duration.ts";
import { resourcesSaying } from "../schema/resources.ts";
import type { JobSpec, Policy, Task } from "../schema/spec.ts";

/** The most pods of one job. A step lists and counts them all. */
const mostPods = 20_000;

/** The most variables that the plugin svc writes into all pods of one job: two for each task into each pod. */
const mostVariables = 2_000_000;

/** The longest host name. It derives from a pod's name. */
const longestName = 63;

const negative = (path: string, number: number | undefined): readonly string[] =>
  number !== undefined && number < 0 ? [`${path} must be at least 0, not ${number}`] : [];

const timeouts = (path: string, policies: readonly Policy[] = []): readonly string[] =>
  policies.flatMap(({ timeout }, at) =>
    timeout === undefined || (durationMs(timeout) ?? -1) >= 0
      ? []
      : [`${path}[${at}].timeout must be a duration such as 10m or 1h30m, not ${JSON.stringify(timeout)}`],
  );

/** Checks the name of the task's last pod, except names that upstream's rule refuses by itself. */
const nameTooLong = (job: string, task: Task, at: number): readonly string[] => {
  const base = `${job}-${task.name === undefined || task.name === "" ? `default${at}` : task.name}`;
  const last = `${base}-${Math.max(0, (task.replicas ?? 0) - 1)}`;
  return last.length <= longestName || `${base}-${at}`.length > longestName
    ? []
    : [
        `spec.tasks[${at}].name makes pods of more than ${longestName} characters (${last}): shorten it, or the job's name`,
      ];
};

const ofTask = (job: string, task: Task, at: number): readonly string[] => {
  const path = `spec.tasks[${at}]`;
  return [
    ...negative(`${path}.replicas`, task.replicas),
    ...negative(`${path}.minAvailable`, task.minAvailable),
    ...timeouts(`${path}.policies`, task.policies),
    ...nameTooLong(job, task, at),
  ];
};

const variables = ({ tasks = [], plugins = {} }: JobSpec, pods: number): readonly string[] => {
  const count = 2 * tasks.length * pods;
  return !Object.hasOwn(plugins, "svc") || count <= mostVariables
    ? []
    : [
        `spec.plugins.svc writes ${count} variables into ${pods} pods of ${tasks.length} tasks: at most ${mostVariables}, so use fewer tasks, or fewer replicas`,
      ];
};

/** Returns one text; empty if nothing is out of bounds. */
export const boundsSaying = (job: string, spec: JobSpec): string => {
  const tasks = spec.tasks ?? [];
  const total = tasks.reduce((sum, { replicas = 0 }) => sum + Math.max(0, replicas), 0);
  return [
    ...negative("spec.minAvailable", spec.minAvailable),
    ...negative("spec.maxRetry", spec.maxRetry),
    ...negative("spec.minSuccess", spec.minSuccess),
    ...negative("spec.ttlSecondsAfterFinished", spec.ttlSecondsAfterFinished),
    ...timeouts("spec.policies", spec.policies),
    ...tasks.flatMap((task, at) => ofTask(job, task, at)),
    ...resourcesSaying(spec),
    ...variables(spec, total),
    ...(total > mostPods ? [`spec.tasks ask for ${total} pods together: at most ${mostPods}`] : []),
  ].join("; ");
};
