/** A job at the API server's door: reconcile's defaults and rules, said earlier, and what upstream refuses of a change. */
import { isTooMuch } from "../../core/json.ts";
import { type AdmittedObject, additions, type PatchOperation } from "../../kube/admission.ts";
import { misread } from "../plugins/all.ts";
import { withoutNulls } from "../schema/absent.ts";
import { defaulted } from "../schema/defaults.ts";
import { parseSpec, type QueueSaying } from "../schema/parse.ts";
import { type JobSpec, specSchema } from "../schema/spec.ts";
import { changeSaying } from "../schema/update.ts";

/** What cannot be read is left for the validation to refuse. */
export const jobPatch = ({ spec }: AdmittedObject): readonly PatchOperation[] => {
  const parsed = specSchema.safeParse(withoutNulls(spec));
  return parsed.success ? additions(spec, defaulted(parsed.data), "/spec") : [];
};

/** Why a new job is refused; empty when it may be stored. */
export const newJobSaying = (name: string, spec: unknown, queueSaying?: QueueSaying): string => {
  const read = parseSpec(name, spec, queueSaying);
  return read.ok ? "" : read.message;
};

/** What upstream only logs: flags of plugins that are passed over. */
export const jobWarnings = (spec: unknown): readonly string[] => misread(typed(spec)?.plugins);

const typed = (spec: unknown): JobSpec | undefined =>
  isTooMuch(spec) ? undefined : specSchema.safeParse(withoutNulls(spec)).data;

/** A job that was stored while nobody kept the rules may be mended, field by field or whole. */
export const changedJobSaying = (name: string, before: unknown, after: unknown): string => {
  const [old, next] = [typed(before), typed(after)];
  const change = old === undefined || next === undefined ? undefined : changeSaying(old, next);
  const own = newJobSaying(name, after);
  if (newJobSaying(name, before) !== "") return change === "" ? "" : own;
  return change === undefined || change === "" ? own : change;
};
