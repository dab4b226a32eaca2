/** The door: a Job as the API server keeps it becomes a spec with its defaults, or one message of what to change. */
import { oncePer } from "../../core/memoize.ts";
import type { Obj } from "../../core/object.ts";
import { explain, telling } from "../../kube/explain.ts";
import { withoutNulls } from "./absent.ts";
import { boundsSaying } from "./bounds.ts";
import { defaulted } from "./defaults.ts";
import { jobLimits } from "./limits.ts";
import { refusalOf } from "./rules.ts";
import { type JobSpec, specSchema } from "./spec.ts";

export type ParsedSpec =
  | { readonly ok: true; readonly spec: JobSpec }
  | { readonly ok: false; readonly message: string };

/** What is wrong with the queue that a spec names, for whoever sees queues; "" when nothing is. */
export type QueueSaying = (queue: string) => string;

/** Limits and types, then what no job may ask for, then upstream's rules: each is only meant for what the ones before let pass. */
export const parseSpec = (name: string, stored: unknown, queueSaying: QueueSaying = () => ""): ParsedSpec => {
  const beyond = jobLimits(stored);
  if (beyond !== "") return { ok: false, message: beyond };
  const typed = specSchema.safeParse(withoutNulls(stored ?? {}), telling);
  if (!typed.success) return { ok: false, message: explain(typed.error) };
  const bounds = boundsSaying(name, typed.data);
  if (bounds !== "") return { ok: false, message: bounds };
  const spec = defaulted(typed.data);
  const refusal = refusalOf(name, spec, queueSaying(spec.queue ?? "")).trim();
  return refusal === "" ? { ok: true, spec } : { ok: false, message: refusal };
};

/** The spec of a job, for whom its queue is not asked about. */
export const specIn = oncePer((job: Obj): ParsedSpec => parseSpec(job.metadata.name, job["spec"]));
