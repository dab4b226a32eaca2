/** The watches of CronJobs, for forwarders: they need none of the decisions. */
import { ownerOfKind } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { changed } from "../../kube/pods.ts";
import { hasMoved, jobsFor } from "../child-jobs.ts";
import { cronJobs } from "../schema/resource.ts";

const watches: readonly Watch[] = [
  { resource: cronJobs, ownerName: (object) => object.metadata.name, matters: changed },
  jobsFor((job) => ownerOfKind(job, cronJobs)?.name, hasMoved),
];

export const cronJobWatcher = { kind: cronJobs.kind, resource: cronJobs, optional: true, watches } as const;
