/** The watches of SparkApplications, for forwarders: they need none of the decisions. */
import { same } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { leavingAt } from "../../kube/node-notice.ts";
import { conditionOf, isEnding, labelOf, type PodStatus, podStatus } from "../../kube/pods.ts";
import { changed } from "../../kube/relevant-change.ts";
import { pods } from "../../kube/resources.ts";
import { trimPod } from "../../kube/trim.ts";
import { endingOf } from "../executors/losses.ts";
import { sparkApplications } from "./spec/resource.ts";

/** Waiting reasons of every container that is about to start: they are no news. */
const underway: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);

const stuckFor = (reason: string | undefined): string | undefined =>
  reason === undefined || underway.has(reason) ? undefined : reason;

/** "held": an executor without a node, but not a driver. "unready": a pod whose node does not report it. */
const cutOff = (pod: Obj, status: PodStatus): string | undefined => {
  const isHeld = conditionOf(status, "PodScheduled")?.status === "False";
  if (isHeld && labelOf(pod, "spark-role") === "executor") return "held";
  return status.phase === "Running" && conditionOf(status, "Ready")?.status === "False" ? "unready" : undefined;
};

/** Facts that decide a step: phase, ended containers, why one does not start, cut off, deletion, node notice. */
const gist = (pod: Obj): unknown => {
  const status = podStatus(pod);
  const { phase, containerStatuses, reason } = status;
  const containers = (containerStatuses ?? [])
    .map(({ name, state }) => [name, state?.terminated?.exitCode, stuckFor(state?.waiting?.reason)])
    .filter(([, exitCode, stuck]) => exitCode !== undefined || stuck !== undefined);
  return [phase, reason, isEnding(pod), containers, cutOff(pod, status), pod.metadata.uid, leavingAt(pod)];
};

/** True for news. A driver pod that was just created is none: the step that created it knows it. */
const news = (before: Obj | undefined, after: Obj): boolean => {
  if (before !== undefined) return !same(gist(before), gist(after));
  const fresh = podStatus(after).phase === "Pending" && !isEnding(after);
  return !(fresh && labelOf(after, "spark-role") === "driver");
};

const isLost = (pod: Obj): boolean => isEnding(pod) || endingOf(pod) !== undefined || leavingAt(pod) !== undefined;

/** True when an executor is lost or about to be: the change is urgent, because its replacement must not wait. */
const loss = (before: Obj | undefined, after: Obj | undefined): boolean => {
  const pod = after ?? before;
  if (pod === undefined || labelOf(pod, "spark-role") !== "executor") return false;
  const was = before !== undefined && isLost(before);
  return !was && (after === undefined || isLost(after));
};

const watches: readonly Watch[] = [
  { resource: sparkApplications, ownerName: (object) => object.metadata.name, matters: changed },
  {
    resource: pods,
    selector: "sparkoperator.k8s.io/launched-by-spark-operator=true",
    trim: trimPod,
    ownerName: (pod) => labelOf(pod, "sparkoperator.k8s.io/app-name"),
    matters: news,
    urgent: loss,
  },
];

/** The SparkApplication watcher for forwarders. */
export const applicationWatcher = {
  kind: sparkApplications.kind,
  resource: sparkApplications,
  optional: true,
  watches,
} as const;
