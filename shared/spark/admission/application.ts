/** Admission of SparkApplications: the defaults that upstream's webhook writes, and its refusals. */
import * as z from "zod";
import {
  type AdmittedObject,
  additions,
  type Judgement,
  type Named,
  type PatchOperation,
} from "../../kube/admission.ts";
import { isRecord } from "../../kube/responses.ts";
import { isOwn, readOtherwise } from "../executors/owner.ts";
import { specSchema } from "../schema/application.ts";
import { withDefaults } from "../schema/defaults.ts";
import { parseSpec } from "../schema/parse.ts";
import { scaleOddities } from "../schema/scale.ts";
import { submit } from "../submission/submit.ts";
import { notesOf } from "../submission/warnings.ts";

const stateOf = (object: AdmittedObject): unknown => {
  const { status } = object;
  const application = isRecord(status) ? status["applicationState"] : undefined;
  return isRecord(application) ? application["state"] : undefined;
};

/** True before a run has begun: in a later phase, new defaults would change the run. */
const isNew = (object: AdmittedObject): boolean =>
  [undefined, "", "INVALIDATING"].some((state) => state === stateOf(object));

const hasType = (spec: unknown): boolean => isRecord(spec) && spec["type"] !== undefined && spec["type"] !== "";

/** The defaults of an application that has not begun. A spec that does not parse is left to the validation. */
export const applicationDefaults = (object: AdmittedObject): readonly PatchOperation[] => {
  const { spec } = object;
  if (!isNew(object) || !isRecord(spec)) return [];
  const parsed = specSchema.safeParse(hasType(spec) ? spec : { ...spec, type: "Scala" });
  return parsed.success ? additions(spec, withDefaults(parsed.data), "/spec") : [];
};

const texts = z.record(z.string(), z.string());

type Texts = Readonly<Record<string, string>>;

type Spec = Extract<ReturnType<typeof parseSpec>, { ok: true }>["spec"];

const annotationsOf = ({ metadata }: AdmittedObject): Texts => texts.safeParse(metadata["annotations"]).data ?? {};

type Rehearsed = {
  readonly name: string;
  readonly namespace: string;
  readonly annotations: Texts;
  readonly spec: Spec;
};

/** Builds a submission that is never created, to check whether it could be. */
export const rehearsal = ({ name, namespace, annotations, spec }: Rehearsed): ReturnType<typeof submit> => {
  const app = { name, namespace, uid: "00000000-0000-0000-0000-000000000000", annotations };
  return submit({ app, spec, attempt: 1, submittedAt: 0, apiServer: "https://kubernetes.default.svc" });
};

const rehearsed = (object: AdmittedObject, { name, namespace }: Named): readonly string[] => {
  const parsed = parseSpec({ ...object, metadata: { name, namespace } });
  if (!parsed.ok) return [];
  const annotations = annotationsOf(object);
  const result = rehearsal({ name, namespace, annotations, spec: parsed.spec });
  // The note about memoryLimit holds only without admission.
  const noted = { ...parsed.spec, executor: { ...parsed.spec.executor, memoryLimit: undefined } };
  return "refused" in result
    ? [`its submission will fail: ${result.refused}`]
    : [
        ...scaleOddities(parsed.spec.dynamicAllocation),
        ...notesOf(noted),
        ...(isOwn(annotations) ? readOtherwise(noted) : []),
      ];
};

/**
 * Refuses an object that upstream's webhook refuses, or that neither Spark nor Kubernetes could read. An error that
 * only a submission finds is a warning: upstream stores such an application, and shows the error in its status.
 */
export const judgedApplication = (object: AdmittedObject, named: Named): Judgement => {
  const parsed = parseSpec({ ...object, metadata: named });
  return parsed.ok ? { broken: [], warnings: rehearsed(object, named) } : { broken: [parsed.message], warnings: [] };
};
