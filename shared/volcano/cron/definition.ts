/** The CRD of the kind CronJob. */
import * as z from "zod";
import type { KindDefinition } from "../../kube/kind-definition.ts";
import { below, jobLimits, jobSpec, natural } from "../schema/definition-limits.ts";
import { cronSpecSchema, cronStatusSchema, jobMetadataSchema } from "../schema/workflows.ts";

export const cronJobDefinition: KindDefinition = {
  columns: [],
  spec: cronSpecSchema.extend({
    jobTemplate: z.looseObject({ metadata: jobMetadataSchema.optional(), spec: jobSpec.optional() }),
  }),
  status: cronStatusSchema,
  limits: {
    "spec.concurrencyPolicy": { default: "Allow", enum: ["Allow", "Forbid", "Replace"] },
    "spec.suspend": { default: false },
    "spec.startingDeadlineSeconds": natural,
    "spec.successfulJobsHistoryLimit": { default: 3, ...natural },
    "spec.failedJobsHistoryLimit": { default: 1, ...natural },
    ...below("spec.jobTemplate.spec", jobLimits),
  },
};
