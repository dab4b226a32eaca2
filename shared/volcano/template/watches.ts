/** The watches of JobTemplates, for forwarders: they need none of the decisions. */
import type { Obj } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { changed, labelOf } from "../../kube/pods.ts";
import { jobsFor } from "../child-jobs.ts";
import { jobTemplates, keys } from "../schema/resource.ts";

/** Returns the name of the job's template; the label names namespace and template. */
const templateOf = (job: Obj): string | undefined => {
  const [text = "", namespace = ""] = [labelOf(job, keys.byTemplate), job.metadata.namespace];
  return text.startsWith(`${namespace}.`) ? text.slice(namespace.length + 1) : undefined;
};

const watches: readonly Watch[] = [
  { resource: jobTemplates, ownerName: (object) => object.metadata.name, matters: changed },
  jobsFor(templateOf, (before) => before === undefined),
];

export const jobTemplateWatcher = { kind: jobTemplates.kind, resource: jobTemplates, optional: true, watches } as const;
