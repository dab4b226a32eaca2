/** Pods that may lack a group, for those who only watch: the server sends none but those of Volcano's scheduler. */
import type { Metadata } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { pods } from "../../kube/resources.ts";
import { keys, podGroups } from "../resource.ts";

/** As upstream's scheduler is called, unless somebody has given it another name. */
export const volcanoScheduler = "volcano";

const field = `spec.schedulerName=${volcanoScheduler}`;

/** Pods of a job come with their group; one that somebody has taken it from is found by a resync. */
const selector = `!${keys.jobName}`;

/** True of a pod that has its group, by its metadata alone. */
export const isGrouped = ({ annotations = {} }: Metadata): boolean => (annotations[keys.group] ?? "") !== "";

const watches: readonly Watch[] = [
  {
    resource: pods,
    selector,
    field,
    ownerName: ({ metadata }) => (isGrouped(metadata) ? undefined : metadata.name),
    matters: (before) => before === undefined,
  },
];

export const podWatcher = {
  ...{ kind: pods.kind, resource: pods, family: podGroups.group },
  ...{ field, settled: isGrouped, watches },
} as const;
