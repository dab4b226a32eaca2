/**
 * The watches of pods that may lack a group: those with the name of Volcano's scheduler, because the API server sends only
 * those.
 */
import type { Metadata } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { pods } from "../../kube/resources.ts";
import { volcanoScheduler } from "../pods/names.ts";
import { keys, podGroups } from "../schema/resource.ts";

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
