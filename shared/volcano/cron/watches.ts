/** The watches of CronJobs, for forwarders: they need none of the decisions. */
import type { Watch } from "../../core/operator.ts";
import { changed } from "../../kube/pods.ts";
import { hasMoved, jobsFor, ownerNamed } from "../child-jobs.ts";
import { cronJobs } from "../schema/resource.ts";

const watches: readonly Watch[] = [
  { resource: cronJobs, ownerName: (object) => object.metadata.name, matters: changed },
  jobsFor((job) => ownerNamed(job, cronJobs.kind, cronJobs.group), hasMoved),
];

export const cronJobWatcher = { kind: cronJobs.kind, resource: cronJobs, optional: true, watches } as const;
