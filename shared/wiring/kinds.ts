/** The names of all kinds that Rekindle runs, for those who only pass keys on and need none of their decisions. */
import { pods } from "../kube/resources.ts";
import { sparkApplications } from "../spark/application/resource.ts";
import { sparkConnects } from "../spark/connect/resource.ts";
import { scheduledSparkApplications } from "../spark/scheduled/resource.ts";
import { cronJobs, jobFlows, jobs, jobTemplates, queues } from "../volcano/resource.ts";

export const kindNames: readonly string[] = [
  ...[sparkApplications, scheduledSparkApplications, sparkConnects],
  ...[jobs, cronJobs, jobFlows, jobTemplates, queues, pods],
].map(({ kind }) => kind);
