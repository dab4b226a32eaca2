/** The declaration of the kind ScheduledSparkApplication. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { scheduledSparkApplications, sparkApplications } from "../schema/resource.ts";

export const scheduledSparkApplication = {
  resource: scheduledSparkApplications,
  family: "spark",
  shortNames: ["scheduledsparkapp"],
  title: "Spark schedule",
  isSchedule: true,
  alertLabels: ["scheduledsparkapplication"],
  creates: sparkApplications,
} as const satisfies DeclaredKind;
