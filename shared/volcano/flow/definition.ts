/** The CRD of the kind JobFlow. */
import * as z from "zod";
import type { KindDefinition } from "../../kube/kind-definition.ts";
import { below, jobLimits, jobSpec } from "../schema/definition-limits.ts";
import { flowSchema, flowSpecSchema, flowStatusSchema } from "../schema/workflows.ts";

export const jobFlowDefinition: KindDefinition = {
  columns: [
    { name: "Status", type: "string", jsonPath: ".status.state.phase" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  spec: flowSpecSchema.extend({
    flows: z.array(flowSchema.extend({ patch: z.looseObject({ jobSpec: jobSpec.optional() }).optional() })).optional(),
  }),
  status: flowStatusSchema,
  limits: {
    "spec.jobRetainPolicy": { enum: ["retain", "delete"] },
    "spec.flows.[].name": { minLength: 1 },
    ...below("spec.flows.[].patch.jobSpec", jobLimits),
  },
};
