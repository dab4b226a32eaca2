/** Parses a Job as the API server stores it: into a spec with the defaults of upstream's mutating webhook, or one message about
 * what to change. Checks that upstream leaves to its CRD's schema or does not make come first: numbers, durations, amounts, names. */

import { oncePer } from "../../core/cache.ts";
import { fieldsOf, isRecord, withoutNulls } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import { quantityOf } from "../../kube/quantity.ts";
import type { Json } from "../../kube/responses.ts";
import { explain, reportingInput } from "../../kube/schema.ts";
import { jobLimits } from "../schema/limits.ts";
import {
  containersIn,
  durationMs,
  type JobSpec,
  leastOf,
  type Policy,
  replicasOf,
  specSchema,
  type Task,
  tasksOf,
} from "../schema/spec.ts";
import { refusalOf } from "./rules.ts";

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
  const minimum = positive(spec.minAvailable);
  return {
    ...spec,
    queue: unset(spec.queue) ? "default" : spec.queue,
    schedulerName: unset(spec.schedulerName) ? schedulerName : spec.schedulerName,
    maxRetry: positive(spec.maxRetry) === 0 ? defaultRetries : spec.maxRetry,
    minAvailable: minimum === 0 ? (tasks ?? []).reduce((sum, task) => sum + leastOf(task), 0) : minimum,
    ...(tasks === undefined ? {} : { tasks }),
    ...(spec.plugins === undefined ? {} : { plugins: defaultedPlugins(spec.plugins) }),
  };
};

/** 2^63 - 1 whole units, in billionths: Kubernetes' own amounts are not larger. */
const most = (2n ** 63n - 1n) * 1_000_000_000n;

/** Returns why a value is no amount; undefined if it is one. */
export const amountSaying = (path: string, value: unknown): string | undefined => {
  const quantity = quantityOf(value);
  if (quantity === undefined) return `${path} must be an amount such as 500m or 2Gi, not ${JSON.stringify(value)}`;
  return quantity.nano > most || quantity.nano < -most
    ? `${path} is more than Kubernetes can count: ${JSON.stringify(value)}`
    : undefined;
};

const within = (value: unknown, field: string): Json => {
  const inner = isRecord(value) ? value[field] : undefined;
  return fieldsOf(inner);
};

const amountsSaying = (path: string, amounts: Json): readonly string[] =>
  Object.entries(amounts).flatMap(([name, value]) => {
    const wrong = amountSaying(`${path}.${name}`, value);
    if (wrong !== undefined) return [wrong];
    return (quantityOf(value)?.nano ?? 0n) < 0n ? [`${path}.${name} must be at least 0, not ${value}`] : [];
  });

const ofResources = (path: string, owner: unknown): readonly string[] =>
  ["requests", "limits"].flatMap((list) =>
    amountsSaying(`${path}.resources.${list}`, within(within(owner, "resources"), list)),
  );

const amountsOfTask = (task: Task, at: number): readonly string[] => {
  const spec = task.template?.spec;
  const path = `spec.tasks[${at}].template.spec`;
  return [
    ...["containers", "initContainers"].flatMap((list) =>
      containersIn(spec, list).flatMap((container, index) => ofResources(`${path}.${list}[${index}]`, container)),
    ),
    ...amountsSaying(`${path}.overhead`, within(spec, "overhead")),
  ];
};

/** Returns the errors by field; empty if there is none. */
const resourcesSaying = (spec: JobSpec): readonly string[] => [
  ...tasksOf(spec).flatMap(amountsOfTask),
  ...(spec.volumes ?? []).flatMap(({ volumeClaim }, at) => ofResources(`spec.volumes[${at}].volumeClaim`, volumeClaim)),
];

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
const boundsSaying = (job: string, spec: JobSpec): string => {
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

type ParsedSpec = { readonly ok: true; readonly spec: JobSpec } | { readonly ok: false; readonly message: string };

/** Returns what is wrong with the queue that a spec names, for callers that can read queues; "" if nothing is. */
export type QueueCheck = (queue: string) => string;

/** Checks limits and types, then bounds, then upstream's rules; each check relies on those before it. */
export const parseSpec = (name: string, stored: unknown, queueSaying: QueueCheck = () => ""): ParsedSpec => {
  const beyond = jobLimits(stored);
  if (beyond !== "") return { ok: false, message: beyond };
  const typed = specSchema.safeParse(withoutNulls(stored ?? {}), reportingInput);
  if (!typed.success) return { ok: false, message: explain(typed.error) };
  const bounds = boundsSaying(name, typed.data);
  if (bounds !== "") return { ok: false, message: bounds };
  const spec = defaulted(typed.data);
  const refusal = refusalOf(name, spec, queueSaying(spec.queue ?? "")).trim();
  return refusal === "" ? { ok: true, spec } : { ok: false, message: refusal };
};

/** The results of parsing one stored spec, by the name of the job. */
const resultsOf = oncePer((_spec: Json) => new Map<string, ParsedSpec>());

/** Parses the spec of a job without a check of its queue; the same stored spec is parsed once. */
export const specIn = (job: Obj): ParsedSpec => {
  const { name } = job.metadata;
  const stored = job.spec;
  if (!isRecord(stored)) return parseSpec(name, stored);
  const results = resultsOf(stored);
  const before = results.get(name);
  if (before !== undefined) return before;
  const result = parseSpec(name, stored);
  results.set(name, result);
  return result;
};
