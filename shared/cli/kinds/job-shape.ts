/** Volcano's kinds as the command line reads them: their resources, and the fields of a job that it shows. */

import * as z from "zod";
import { fieldsOf } from "../../core/json.ts";
import type { Obj, Resource } from "../../core/object.ts";

export const jobs: Resource = { group: "batch.volcano.sh", version: "v1alpha1", plural: "jobs", kind: "Job" };
export const commands: Resource = { group: "bus.volcano.sh", version: "v1alpha1", plural: "commands", kind: "Command" };

const flow = { group: "flow.volcano.sh", version: "v1alpha1" } as const;
export const jobFlows: Resource = { ...flow, plural: "jobflows", kind: "JobFlow" };
export const jobTemplates: Resource = { ...flow, plural: "jobtemplates", kind: "JobTemplate" };

const scheduling = { group: "scheduling.volcano.sh", version: "v1beta1" } as const;
export const queues: Resource = { ...scheduling, plural: "queues", kind: "Queue" };
export const podGroups: Resource = { ...scheduling, plural: "podgroups", kind: "PodGroup" };

/** Labels of a job's pods. */
export const keys = { taskSpec: "volcano.sh/task-spec", taskIndex: "volcano.sh/task-index" } as const;

const text = z.string().optional().catch(undefined);
const number = z.number().optional().catch(undefined);

const task = z.object({
  name: text,
  replicas: number,
  minAvailable: number,
  template: z.object({ spec: z.unknown() }).optional().catch(undefined),
});

const spec = z.object({
  schedulerName: text,
  minAvailable: number,
  maxRetry: number,
  queue: text,
  tasks: z.array(task).catch([]),
  plugins: z.record(z.string(), z.array(z.string()).catch([])).catch({}),
});

const status = z.object({
  state: z.object({ phase: text, reason: text, message: text }).catch({ phase: undefined }),
  ...{ minAvailable: number, pending: number, running: number, succeeded: number, failed: number },
  ...{ terminating: number, unknown: number, version: number, retryCount: number },
  runningDuration: text,
  taskStatusCount: z.record(z.string(), z.object({ phase: z.record(z.string(), z.number()).catch({}) })).catch({}),
  controlledResources: z.record(z.string(), z.string()).catch({}),
  conditions: z.array(z.object({ status: z.string(), lastTransitionTime: z.string().optional() })).catch([]),
});

export type Spec = z.infer<typeof spec>;
export type Task = z.infer<typeof task>;
export type Status = z.infer<typeof status>;

/** Parses the spec. A field that does not parse is left out. */
export const specOf = (job: Obj): Spec => spec.parse(fieldsOf(job["spec"]));

export const statusOf = (job: Obj): Status => status.parse(fieldsOf(job["status"]));

export const phaseOf = (job: Obj): string => statusOf(job).state.phase ?? "";
