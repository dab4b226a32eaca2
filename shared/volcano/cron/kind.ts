/** The declaration of the kind CronJob. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { cronJobs, jobs } from "../schema/resource.ts";

export const cronJob = {
  resource: cronJobs,
  family: "volcano",
  shortNames: ["cronvcjob", "cronvj"],
  title: "Cron job",
  isSchedule: true,
  alertLabels: ["volcano_cronjob"],
  creates: jobs,
} as const satisfies DeclaredKind;
