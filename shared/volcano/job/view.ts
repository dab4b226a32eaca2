/** The fields of a job that people are shown. A field that does not parse is left out: a view of an odd object shows the rest. */
import * as z from "zod";
import { fieldsOf } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";

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
export const specOf = (job: Obj): Spec => spec.parse(fieldsOf(job.spec));

export const statusOf = (job: Obj): Status => status.parse(fieldsOf(job.status));

export const phaseOf = (job: Obj): string => statusOf(job).state.phase ?? "";
