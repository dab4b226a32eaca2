/** Admission requests about Volcano's kinds, and their verdicts as short texts. */
import type { AdmissionRequest, AdmittedObject } from "../../../../shared/kube/admission.ts";
import { judgedBy, patchedBy, type RelatedObjects } from "../../../../shared/volcano/admission/review.ts";

export type Fields = Readonly<Record<string, unknown>>;

const kinds = {
  Job: { group: "batch.volcano.sh", version: "v1alpha1" },
  CronJob: { group: "batch.volcano.sh", version: "v1alpha1" },
  JobFlow: { group: "flow.volcano.sh", version: "v1alpha1" },
  JobTemplate: { group: "flow.volcano.sh", version: "v1alpha1" },
  Queue: { group: "scheduling.volcano.sh", version: "v1beta1" },
  PodGroup: { group: "scheduling.volcano.sh", version: "v1beta1" },
  HyperNode: { group: "topology.volcano.sh", version: "v1alpha1" },
  Pod: { group: "", version: "v1" },
} as const;

type Kind = keyof typeof kinds;

export const reviewOf = (
  kind: Kind,
  operation: string,
  object: AdmittedObject,
  more: Fields = {},
): AdmissionRequest => ({
  ...{ uid: "review", kind: { ...kinds[kind], kind }, namespace: "team", operation, object },
  ...more,
});

export const creating = (kind: Kind, spec: unknown, metadata: Fields = { name: "train" }): AdmissionRequest =>
  reviewOf(kind, "CREATE", { metadata, spec });

export const updating = (kind: Kind, before: unknown, after: unknown): AdmissionRequest =>
  reviewOf(
    kind,
    "UPDATE",
    { metadata: { name: "train" }, spec: after },
    {
      oldObject: { metadata: { name: "train" }, spec: before },
    },
  );

/** Returns the verdict as text; "" if the request is allowed without a warning. */
export const said = (request: AdmissionRequest, around?: RelatedObjects): string => {
  const verdict = judgedBy(request, around);
  return verdict.allowed ? verdict.warnings.map((text) => `warning: ${text}`).join("\n") : verdict.message;
};

export const patchOf = (request: AdmissionRequest, around?: RelatedObjects): readonly unknown[] => {
  const verdict = patchedBy(request, around);
  return verdict.allowed ? verdict.patch : [];
};
