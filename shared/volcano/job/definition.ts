/** The CRD of the kind Job. */
import type { KindDefinition } from "../../kube/kind-definition.ts";
import { below, jobLimits, jobSpec } from "../schema/definition-limits.ts";
import { statusSchema } from "../schema/status.ts";

export const jobDefinition: KindDefinition = {
  columns: [
    { name: "STATUS", type: "string", jsonPath: ".status.state.phase" },
    { name: "minAvailable", type: "integer", jsonPath: ".status.minAvailable" },
    { name: "RUNNINGS", type: "integer", jsonPath: ".status.running" },
    { name: "AGE", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "QUEUE", type: "string", jsonPath: ".spec.queue", priority: 1 },
  ],
  spec: jobSpec,
  status: statusSchema,
  limits: below("spec", jobLimits),
};
