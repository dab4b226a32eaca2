/** The watches of Apache's SparkApplications, for forwarders: they need none of the decisions. */
import { same } from "../../core/json.ts";
import { keyKindOf, type Obj, ownerOfKind } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { workloadWatch } from "../../kube/kueue-watch.ts";
import { changed, isEnding, isReady, labelOf, leavingAt, podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { trimPod } from "../../kube/trim.ts";
import { groupWatch, loss } from "../application/watches.ts";
import { apacheApplications, nameLabel } from "./resource.ts";

/** The facts of a pod that decide a step. */
const gistOf = (pod: Obj): unknown => {
  const { phase, reason, containerStatuses = [] } = podStatus(pod);
  const containers = containerStatuses.map(({ name, ready, restartCount, state }) => [
    ...[name, ready, restartCount],
    state?.terminated?.exitCode,
  ]);
  return [phase, reason, isReady(pod), isEnding(pod), containers, pod.metadata.uid, leavingAt(pod)];
};

const watches: readonly Watch[] = [
  { resource: apacheApplications, ownerName: ({ metadata }) => metadata.name, matters: changed },
  {
    resource: pods,
    selector: nameLabel,
    trim: trimPod,
    ownerName: (pod) => labelOf(pod, nameLabel),
    matters: (before, after) => before === undefined || !same(gistOf(before), gistOf(after)),
    urgent: loss,
  },
  groupWatch(apacheApplications),
  workloadWatch((workload) => ownerOfKind(workload, apacheApplications)?.name),
];

/** The watcher of Apache's SparkApplications for forwarders. */
export const apacheSparkApplicationWatcher = {
  kind: keyKindOf(apacheApplications),
  resource: apacheApplications,
  optional: true,
  watches,
} as const;
