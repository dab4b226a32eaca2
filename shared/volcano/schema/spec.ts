/**
 * The schema of a Volcano Job: own fields typed, pod templates and claims opaque, everything else kept. A task's pods
 * are checked for the most frequent errors that Kubernetes would refuse: names, images, mounts, restart policy; it
 * reports other errors when the first pod is created. Fields of all kinds: null as absent, as Kubernetes reads it; its
 * rules for names, with its words for errors; durations as Go reads them; and whether dependencies can be met in some
 * order.
 */

import * as z from "zod";
import { recordsIn } from "../../core/json.ts";
import { labelErrors } from "../../kube/names.ts";
import type { Json } from "../../kube/responses.ts";

/** Integers as Go's int32 holds them. A rule, not the type, refuses negative ones. */
const int32 = z
  .int()
  .min(-(2 ** 31))
  .max(2 ** 31 - 1);

const texts = z.record(z.string(), z.string());

const policy = z.looseObject({
  action: z.string().optional(),
  event: z.string().optional(),
  events: z.array(z.string()).optional(),
  exitCode: int32.optional(),
  /** A duration as Go writes it: `10m`, `1h30m`. */
  timeout: z.string().optional(),
});

const topology = z.looseObject({
  mode: z.string().optional(),
  highestTierAllowed: z.int().optional(),
  highestTierName: z.string().optional(),
});

const partition = z.looseObject({
  totalPartitions: int32.optional(),
  partitionSize: int32.optional(),
  minPartitions: int32.optional(),
  networkTopology: topology.optional(),
});

const template = z.looseObject({
  metadata: z.looseObject({ labels: texts.optional(), annotations: texts.optional() }).optional(),
  spec: z.record(z.string(), z.unknown()).optional(),
});

const task = z.looseObject({
  name: z.string().optional(),
  replicas: int32.optional(),
  minAvailable: int32.optional(),
  template: template.optional(),
  policies: z.array(policy).optional(),
  topologyPolicy: z.string().optional(),
  maxRetry: int32.optional(),
  dependsOn: z.looseObject({ name: z.array(z.string()).optional(), iteration: z.string().optional() }).optional(),
  partitionPolicy: partition.optional(),
});

const volume = z.looseObject({
  mountPath: z.string().optional(),
  volumeClaimName: z.string().optional(),
  volumeClaim: z.record(z.string(), z.unknown()).optional(),
});

export const specSchema = z.looseObject({
  schedulerName: z.string().optional(),
  minAvailable: int32.optional(),
  minSuccess: int32.optional(),
  maxRetry: int32.optional(),
  queue: z.string().optional(),
  priorityClassName: z.string().optional(),
  ttlSecondsAfterFinished: int32.optional(),
  tasks: z.array(task).optional(),
  volumes: z.array(volume).optional(),
  policies: z.array(policy).optional(),
  plugins: z.record(z.string(), z.array(z.string()).optional()).optional(),
  networkTopology: topology.optional(),
});

export type JobSpec = z.infer<typeof specSchema>;
export type Task = z.infer<typeof task>;
export type Policy = z.infer<typeof policy>;
export type Volume = z.infer<typeof volume>;
export type NetworkTopology = z.infer<typeof topology>;

export const nameOf = (one: Task): string => one.name ?? "";

export const replicasOf = (one: Task): number => one.replicas ?? 0;

export const tasksOf = (spec: Pick<JobSpec, "tasks">): readonly Task[] => spec.tasks ?? [];

/** Returns the number of pods that the job asks for. */
export const totalReplicas = (spec: JobSpec): number =>
  tasksOf(spec).reduce((total, one) => total + replicasOf(one), 0);

/** Returns the fewest pods that a task needs: all of them if it does not say. */
export const leastOf = (one: Task): number => one.minAvailable ?? replicasOf(one);

/** Writes a list as Go prints it. */
export const goList = (items: readonly string[]): string => `[${items.join(" ")}]`;

/** By name: the names that each depends on. */
type Graph = ReadonlyMap<string, readonly string[]>;

/** Returns the names that can never start: they are in a cycle, or depend on one that is, or on an unknown one. */
export const unstartable = (graph: Graph): readonly string[] => {
  const waiting = new Map(graph);
  const started = new Set<string>();
  for (;;) {
    const ready = [...waiting].filter(([, before]) => before.every((name) => started.has(name)));
    if (ready.length === 0) return [...waiting.keys()];
    for (const [name] of ready) {
      started.add(name);
      waiting.delete(name);
    }
  }
};

/** True if every task can start after those that it depends on. A task that depends on an unknown task cannot. */
export const formsDag = (tasks: readonly Task[]): boolean =>
  unstartable(new Map(tasks.map((task) => [nameOf(task), task.dependsOn?.name ?? []]))).length === 0;

const textIn = (value: Json, field: string): string => (typeof value[field] === "string" ? value[field] : "");

/** Containers of a pod's spec, in the order in which it lists them. */
export const containersIn = (spec: Json | undefined, list = "containers"): readonly Json[] => recordsIn(spec?.[list]);

const required = (path: string): string => `${path}: Required value`;

const quoted = (value: string): string => JSON.stringify(value);

const nameErrors = (path: string, name: string): readonly string[] => {
  if (name === "") return [required(path)];
  return labelErrors(name).map((error) => `${path}: Invalid value: ${quoted(name)}: ${error}`);
};

const mountErrors = (path: string, container: Json, volumes: ReadonlySet<string>): readonly string[] =>
  recordsIn(container["volumeMounts"]).flatMap((mount, at) => {
    const name = textIn(mount, "name");
    return [
      ...(name === "" ? [required(`${path}.volumeMounts[${at}].name`)] : []),
      ...(volumes.has(name) ? [] : [`${path}.volumeMounts[${at}].name: Not found: ${quoted(name)}`]),
      ...(textIn(mount, "mountPath") === "" ? [required(`${path}.volumeMounts[${at}].mountPath`)] : []),
    ];
  });

const restartPolicies = ["Always", "Never", "OnFailure"];

const restartErrors = (spec: Json): readonly string[] => {
  const policy = textIn(spec, "restartPolicy");
  if (policy === "" || restartPolicies.includes(policy)) return [];
  const supported = restartPolicies.map(quoted).join(", ");
  return [`template.spec.restartPolicy: Unsupported value: ${quoted(policy)}: supported values: ${supported}`];
};

const containerErrors = (spec: Json): readonly string[] => {
  const volumes = new Set(recordsIn(spec["volumes"]).map((volume) => textIn(volume, "name")));
  const taken = new Set<string>();
  const named = ["containers", "initContainers"].flatMap((list) =>
    containersIn(spec, list).map((container, at) => ({ container, path: `template.spec.${list}[${at}]` })),
  );
  return named.flatMap(({ container, path }) => {
    const name = textIn(container, "name");
    const twice = name !== "" && taken.has(name);
    taken.add(name);
    return [
      ...nameErrors(`${path}.name`, name),
      ...(twice ? [`${path}.name: Duplicate value: ${quoted(name)}`] : []),
      ...(textIn(container, "image") === "" ? [required(`${path}.image`)] : []),
      ...mountErrors(path, container, volumes),
    ];
  });
};

/** Returns one text for all errors; empty if there is none. */
export const templateSaying = ({ template }: Task, index: number): string => {
  const spec = template?.spec ?? {};
  const errors = [
    ...(containersIn(spec).length === 0 ? [required("template.spec.containers")] : []),
    ...containerErrors(spec),
    ...restartErrors(spec),
  ];
  return errors.length === 0 ? "" : `spec.task[${index}].${errors.map((error) => `${error}. `).join("")}`;
};

const units: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Reads a duration in whole milliseconds; undefined if the text is none. */
export const durationMs = (text: string): number | undefined => {
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/.exec(text) ?? [];
  if (rest === "0") return 0;
  if (!/^(\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))*$/.test(rest)) return undefined;
  const parts = rest.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g);
  const sum = [...parts].reduce((total, [, number, unit = ""]) => total + Number(number) * (units[unit] ?? 0), 0);
  return Math.round(sign === "-" ? -sum : sum);
};

/** Writes a duration as Go prints it: whole seconds, larger units only when they are needed. */
export const durationText = (ms: number): string => {
  const seconds = Math.floor(ms / 1_000);
  const [hours, minutes, left] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (hours > 0) return `${hours}h${minutes}m${left}s`;
  return minutes > 0 ? `${minutes}m${left}s` : `${left}s`;
};
