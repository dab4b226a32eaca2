/** Parses a Job as the API server stores it: into a spec with its defaults, or one message about what to change. */
import { oncePer } from "../../core/memoize.ts";
import type { Obj } from "../../core/object.ts";
import { explain, telling } from "../../kube/explain.ts";
import { withoutNulls } from "../schema/absent.ts";
import { defaulted } from "../schema/defaults.ts";
import { jobLimits } from "../schema/limits.ts";
import { type JobSpec, specSchema } from "../schema/spec.ts";
import { boundsSaying } from "./bounds.ts";
import { refusalOf } from "./rules.ts";

export type ParsedSpec =
  | { readonly ok: true; readonly spec: JobSpec }
  | { readonly ok: false; readonly message: string };

/** Returns what is wrong with the queue that a spec names, for callers that can read queues; "" if nothing is. */
export type QueueSaying = (queue: string) => string;

/** Checks limits and types, then bounds, then upstream's rules; each check relies on those before it. */
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

/** Parses the spec of a job without a check of its queue. */
export const specIn = oncePer((job: Obj): ParsedSpec => parseSpec(job.metadata.name, job["spec"]));
