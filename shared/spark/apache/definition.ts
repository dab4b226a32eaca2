/** The CRD of Apache's SparkApplication, with upstream's columns. */
import { ageColumn, type KindDefinition } from "../../kube/kind-definition.ts";
import { apacheSpecSchema, apacheStatusSchema } from "./spec/schema.ts";

export const apacheSparkApplicationDefinition: KindDefinition = {
  columns: [ageColumn, { name: "Current State", type: "string", jsonPath: ".status.currentState.currentStateSummary" }],
  spec: apacheSpecSchema,
  status: apacheStatusSchema,
};
