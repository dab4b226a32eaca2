/** The watch of pods that may lack a group: the API server sends only those of Volcano's scheduler. */
import type { Metadata } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { pods } from "../../kube/resources.ts";
import { keys, podGroups } from "../schema/resource.ts";

/** The name of upstream's scheduler, unless it is configured otherwise. */
export const volcanoScheduler = "volcano";

const field = `spec.schedulerName=${volcanoScheduler}`;

/** Pods of a job are created with their group; a resync finds a pod whose group was removed. */
const selector = `!${keys.jobName}`;

/** True for a pod that has its group, by its metadata alone. */
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
