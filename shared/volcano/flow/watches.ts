/** The watches of JobFlows, for forwarders: they need none of the decisions. */
import { ownerOfKind } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { changed } from "../../kube/pods.ts";
import { hasProgressed, jobsFor } from "../child-jobs.ts";
import { jobFlows } from "../schema/resource.ts";

const watches: readonly Watch[] = [
  { resource: jobFlows, ownerName: (object) => object.metadata.name, matters: changed },
  jobsFor((job) => ownerOfKind(job, jobFlows)?.name, hasProgressed),
];

export const jobFlowWatcher = { kind: jobFlows.kind, resource: jobFlows, optional: true, watches } as const;
