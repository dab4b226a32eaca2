/** Admission of a job: reconcile's defaults and rules, applied earlier, and upstream's rules for changes. */
import { isTooMuch } from "../../core/json.ts";
import { type AdmittedObject, additions, type PatchOperation } from "../../kube/admission.ts";
import { misread } from "../plugins/all.ts";
import { withoutNulls } from "../schema/absent.ts";
import { defaulted } from "../schema/defaults.ts";
import { type JobSpec, specSchema } from "../schema/spec.ts";
import { changeSaying } from "../schema/update.ts";
import { parseSpec, type QueueSaying } from "../validation/parse.ts";

/** Returns the defaults as a patch; a spec that cannot be read is left to the validation. */
export const jobPatch = ({ spec }: AdmittedObject): readonly PatchOperation[] => {
  const parsed = specSchema.safeParse(withoutNulls(spec));
  return parsed.success ? additions(spec, defaulted(parsed.data), "/spec") : [];
};

/** Returns why a new job is refused; empty if it may be stored. */
export const newJobSaying = (name: string, spec: unknown, queueSaying?: QueueSaying): string => {
  const read = parseSpec(name, spec, queueSaying);
  return read.ok ? "" : read.message;
};

/** Returns warnings about ignored flags of plugins, which upstream only logs. */
export const jobWarnings = (spec: unknown): readonly string[] => misread(typed(spec)?.plugins);

const typed = (spec: unknown): JobSpec | undefined =>
  isTooMuch(spec) ? undefined : specSchema.safeParse(withoutNulls(spec)).data;

/** Returns why a change is refused. A job that was stored with errors may be corrected, field by field or whole. */
export const changedJobSaying = (name: string, before: unknown, after: unknown): string => {
  const [old, next] = [typed(before), typed(after)];
  const change = old === undefined || next === undefined ? undefined : changeSaying(old, next);
  const own = newJobSaying(name, after);
  if (newJobSaying(name, before) !== "") return change === "" ? "" : own;
  return change === undefined || change === "" ? own : change;
};
