/** The CRD of the kind ScheduledSparkApplication. */
import { ageColumn, type KindDefinition } from "../../kube/kind-definition.ts";
import { scheduledSpecSchema, scheduledStatusSchema } from "../schema/application.ts";
import { approved } from "../schema/approval.ts";

export const scheduledSparkApplicationDefinition: KindDefinition = {
  columns: [
    { name: "Schedule", type: "string", jsonPath: ".spec.schedule" },
    { name: "TimeZone", type: "string", jsonPath: ".spec.timeZone" },
    { name: "Suspend", type: "string", jsonPath: ".spec.suspend" },
    { name: "Last Run", type: "date", jsonPath: ".status.lastRun" },
    { name: "Last Run Name", type: "string", jsonPath: ".status.lastRunName" },
    ageColumn,
  ],
  spec: scheduledSpecSchema,
  status: scheduledStatusSchema,
  annotations: approved,
};
