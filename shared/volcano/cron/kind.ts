/** The declaration of the kind CronJob. */
import type { DeclaredKind } from "../../kube/declared-kind.ts";
import { cronJobs } from "../schema/resource.ts";

export const cronJob = {
  resource: cronJobs,
  family: "volcano",
  shortNames: ["cronvcjob", "cronvj"],
} as const satisfies DeclaredKind;
