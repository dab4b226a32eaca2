/** Admission of executor pods: writes the one field that neither a pod template nor a conf can carry. */
import * as z from "zod";
import { type AdmittedObject, memoryLimitMark, type PatchOperation } from "../../kube/admission.ts";

const marked = z.looseObject({
  metadata: z.looseObject({ annotations: z.looseObject({ [memoryLimitMark]: z.string() }) }),
  spec: z.looseObject({
    containers: z.array(
      z.looseObject({
        name: z.string(),
        resources: z.looseObject({ limits: z.looseObject({}).optional() }).optional(),
      }),
    ),
  }),
});

/** Replaces Spark's memory limit with the one in the template's annotation. */
export const podLimits = (object: AdmittedObject): readonly PatchOperation[] => {
  const parsed = marked.safeParse(object);
  if (!parsed.success) return [];
  const { metadata, spec } = parsed.data;
  const limit = metadata.annotations[memoryLimitMark];
  const at = spec.containers.findIndex(({ name }) => name === "spark-kubernetes-executor");
  const container = spec.containers[at];
  if (container === undefined || typeof limit !== "string") return [];
  const { resources } = container;
  const path = `/spec/containers/${at}/resources`;
  if (resources === undefined) return [{ op: "add", path, value: { limits: { memory: limit } } }];
  if (resources.limits === undefined) return [{ op: "add", path: `${path}/limits`, value: { memory: limit } }];
  return [{ op: "add", path: `${path}/limits/memory`, value: limit }];
};
