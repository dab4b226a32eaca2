/** The CRD of the kind JobTemplate. */
import type { KindDefinition } from "../../kube/kind-definition.ts";
import { below, jobLimits, jobSpec } from "../schema/definition-limits.ts";
import { templateStatusSchema } from "../schema/workflows.ts";

export const jobTemplateDefinition: KindDefinition = {
  columns: [],
  spec: jobSpec,
  status: templateStatusSchema,
  limits: below("spec", jobLimits),
};
