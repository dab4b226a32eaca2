/** The ScheduledSparkApplication resource, and the label of its runs. */
import type { Resource } from "../../core/object.ts";

export const scheduledSparkApplications: Resource = {
  group: "sparkoperator.k8s.io",
  version: "v1beta2",
  plural: "scheduledsparkapplications",
  kind: "ScheduledSparkApplication",
};

export const scheduleLabel = "sparkoperator.k8s.io/scheduled-app-name";
