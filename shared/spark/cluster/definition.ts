/** The CRD of Apache's SparkCluster, with upstream's columns. */
import { ageColumn, type KindDefinition } from "../../kube/kind-definition.ts";
import { clusterSpecSchema, clusterStatusSchema } from "./schema.ts";

export const sparkClusterDefinition: KindDefinition = {
  columns: [ageColumn, { name: "Current State", type: "string", jsonPath: ".status.currentState.currentStateSummary" }],
  spec: clusterSpecSchema,
  status: clusterStatusSchema,
};
