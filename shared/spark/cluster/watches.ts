/**
 * The watches of Apache's SparkClusters, for forwarders: they need none of the decisions. A policy, an autoscaler or a budget
 * that is deleted is created again with the next step.
 */
import { fieldsOf, same } from "../../core/json.ts";
import type { Obj, Resource } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { changed, isEnding, labelOf } from "../../kube/pods.ts";
import { services, statefulSets } from "../../kube/resources.ts";
import { clusterLabel } from "./parts.ts";
import { sparkClusters } from "./resource.ts";

/** The numbers of a StatefulSet that the status of its cluster shows. */
const readinessOf = (set: Obj): unknown => [
  fieldsOf(set.spec)["replicas"],
  fieldsOf(set.status)["readyReplicas"],
  isEnding(set),
];

/** Watches objects that only steps create: a change or a deletion is news, a creation is none. */
const kept = (resource: Resource): Watch => ({
  resource,
  selector: clusterLabel,
  ownerName: (object) => labelOf(object, clusterLabel),
  matters: (before) => before !== undefined,
});

const sets: Watch = {
  ...kept(statefulSets),
  trim: (set) => ({
    ...set,
    spec: { replicas: fieldsOf(set.spec)["replicas"] },
    status: { readyReplicas: fieldsOf(set.status)["readyReplicas"] },
  }),
  // A list after a gap shows the sets as new, whose events are lost.
  matters: (before, after) => before === undefined || !same(readinessOf(before), readinessOf(after)),
};

/** The watcher of SparkClusters for forwarders. */
export const sparkClusterWatcher = {
  kind: sparkClusters.kind,
  resource: sparkClusters,
  optional: true,
  watches: [
    { resource: sparkClusters, ownerName: ({ metadata }: Obj) => metadata.name, matters: changed },
    kept(services),
    sets,
  ],
} as const;
