/** The schema of a Volcano Job: own fields typed, pod templates and claims opaque, everything else kept. */
import * as z from "zod";

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
