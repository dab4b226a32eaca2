/** Where ScheduledSparkApplications stand in the API, and the label by which their runs are found. */
import type { Resource } from "../../core/object.ts";

export const scheduledSparkApplications: Resource = {
  group: "sparkoperator.k8s.io",
  version: "v1beta2",
  plural: "scheduledsparkapplications",
  kind: "ScheduledSparkApplication",
};

export const scheduleLabel = "sparkoperator.k8s.io/scheduled-app-name";
