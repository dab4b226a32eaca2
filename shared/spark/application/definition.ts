/** The CRD of the kind SparkApplication. */
import { ageColumn, type KindDefinition } from "../../kube/kind-definition.ts";
import { specSchema, statusSchema } from "../schema/application.ts";
import { approved } from "../schema/approval.ts";

export const sparkApplicationDefinition: KindDefinition = {
  columns: [
    { name: "Suspend", type: "boolean", jsonPath: ".spec.suspend" },
    { name: "Status", type: "string", jsonPath: ".status.applicationState.state" },
    { name: "Attempts", type: "string", jsonPath: ".status.executionAttempts" },
    { name: "Start", type: "string", jsonPath: ".status.lastSubmissionAttemptTime" },
    { name: "Finish", type: "string", jsonPath: ".status.terminationTime" },
    ageColumn,
  ],
  spec: specSchema,
  status: statusSchema,
  annotations: approved,
};
