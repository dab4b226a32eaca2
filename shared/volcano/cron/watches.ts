/** The watches of a CronJob: which changes send its key. It imports none of the CronJob's decisions. */
import type { Watch } from "../../core/operator.ts";
import { changed } from "../../kube/relevant-change.ts";
import { hasMoved, ownerNamed, trimJob } from "../child-jobs.ts";
import { cronJobs, jobs } from "../schema/resource.ts";

const watches: readonly Watch[] = [
  { resource: cronJobs, ownerName: (object) => object.metadata.name, matters: changed },
  {
    resource: jobs,
    optional: true,
    trim: trimJob,
    ownerName: (job) => ownerNamed(job, cronJobs.kind, cronJobs.group),
    matters: hasMoved,
  },
];

/** The CronJob kind as a forwarder needs it. */
export const cronWatcher = { kind: cronJobs.kind, resource: cronJobs, optional: true, watches } as const;
