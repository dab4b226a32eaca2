/** SparkApplications at the API server's door: the defaults that upstream's webhook writes, and the refusals it gives. */
import { same } from "../core/json.ts";
import { type AdmissionRequest, type AdmittedObject, additions, type Verdict } from "../kube/admission.ts";
import { isRecord } from "../kube/answers.ts";
import { sparkApplications } from "./application/resource.ts";
import { specSchema } from "./schema/application.ts";
import { withDefaults } from "./schema/defaults.ts";
import { parseSpec } from "./schema/parse.ts";

const pass: Verdict = { allowed: true, patch: [] };

/** What is written, when it is one of ours. */
const writtenIn = ({ kind, operation, object }: AdmissionRequest): AdmittedObject | undefined => {
  const ours = kind.group === sparkApplications.group && kind.kind === sparkApplications.kind;
  return ours && (operation === "CREATE" || operation === "UPDATE") ? (object ?? undefined) : undefined;
};

const stateOf = (object: AdmittedObject): unknown => {
  const { status } = object;
  const application = isRecord(status) ? status["applicationState"] : undefined;
  return isRecord(application) ? application["state"] : undefined;
};

/** Only a run that has not begun takes new defaults: later they would be a change of it. */
const isNew = (object: AdmittedObject): boolean =>
  [undefined, "", "INVALIDATING"].some((state) => state === stateOf(object));

/** Writes the defaults. What cannot be read is left for the validation to refuse. */
export const defaulted = (request: AdmissionRequest): Verdict => {
  const object = writtenIn(request);
  if (object === undefined || !isNew(object)) return pass;
  const { spec } = object;
  const parsed = specSchema.safeParse(spec);
  return parsed.success ? { allowed: true, patch: additions(spec, withDefaults(parsed.data), "/spec") } : pass;
};

/** Refuses what could not run. An update that leaves the spec as it is passes: labels of a bad object may be mended. */
export const validated = (request: AdmissionRequest): Verdict => {
  const object = writtenIn(request);
  if (object === undefined) return pass;
  const { spec, metadata } = object;
  if (request.operation === "UPDATE" && same(spec, request.oldObject?.["spec"])) return pass;
  const { name = `${metadata.generateName ?? ""}x`, namespace = request.namespace } = metadata;
  const named = { name, ...(namespace === undefined ? {} : { namespace }) };
  const parsed = parseSpec({ spec, metadata: named });
  return parsed.ok ? pass : { allowed: false, message: parsed.message };
};
