/** The CRD of the kind SparkConnect. */
import { ageColumn, type KindDefinition } from "../../kube/kind-definition.ts";
import { connectSpecSchema, connectStatusSchema } from "../schema/application.ts";
import { approved } from "../schema/approval.ts";

export const sparkConnectDefinition: KindDefinition = {
  columns: [
    ageColumn,
    { name: "Status", type: "string", jsonPath: ".status.state" },
    { name: "PodName", type: "string", jsonPath: ".status.server.podName" },
  ],
  spec: connectSpecSchema,
  status: connectStatusSchema,
  annotations: approved,
};
