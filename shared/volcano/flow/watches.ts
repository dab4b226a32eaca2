/** The watches of a JobFlow and a JobTemplate: which changes send their keys. It imports none of their decisions. */
import type { Obj } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { labelOf } from "../../kube/pods.ts";
import { changed } from "../../kube/relevant-change.ts";
import { hasProgressed, ownerNamed, trimJob } from "../child-jobs.ts";
import { jobFlows, jobs, jobTemplates, keys } from "../schema/resource.ts";

const jobsFor = (ownerName: Watch["ownerName"], matters: Watch["matters"]): Watch => ({
  resource: jobs,
  optional: true,
  trim: trimJob,
  ownerName,
  matters,
});

const flowWatches: readonly Watch[] = [
  { resource: jobFlows, ownerName: (object) => object.metadata.name, matters: changed },
  jobsFor((job) => ownerNamed(job, jobFlows.kind, jobFlows.group), hasProgressed),
];

/** Returns the name of the job's template; the label names namespace and template. */
const templateOf = (job: Obj): string | undefined => {
  const [text = "", namespace = ""] = [labelOf(job, keys.byTemplate), job.metadata.namespace];
  return text.startsWith(`${namespace}.`) ? text.slice(namespace.length + 1) : undefined;
};

const templateWatches: readonly Watch[] = [
  { resource: jobTemplates, ownerName: (object) => object.metadata.name, matters: changed },
  jobsFor(templateOf, (before) => before === undefined),
];

/** The JobFlow kind as a forwarder needs it. */
export const flowWatcher = { kind: jobFlows.kind, resource: jobFlows, optional: true, watches: flowWatches } as const;

export const templateWatcher = {
  kind: jobTemplates.kind,
  resource: jobTemplates,
  optional: true,
  watches: templateWatches,
} as const;
