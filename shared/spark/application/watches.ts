/** What of the world is news to a SparkApplication, for those who only watch and need none of its decisions. */
import { same } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { leavingAt } from "../../kube/node-notice.ts";
import { conditionOf, isEnding, labelOf, type PodStatus, podStatus } from "../../kube/pods.ts";
import { changed } from "../../kube/relevant-change.ts";
import { pods } from "../../kube/resources.ts";
import { trimPod } from "../../kube/trim.ts";
import { endingOf } from "../executors/losses.ts";
import { sparkApplications } from "./resource.ts";

/** A container that is on its way, as every one is for a while: not news, and nothing that keeps it from starting. */
const underway: ReadonlySet<string> = new Set(["ContainerCreating", "PodInitializing"]);

const stuckFor = (reason: string | undefined): string | undefined =>
  reason === undefined || underway.has(reason) ? undefined : reason;

/** An executor that finds no node, or a pod whose node no longer tells of it. Drivers are waited for without looking. */
const cutOff = (pod: Obj, status: PodStatus): string | undefined => {
  const isHeld = conditionOf(status, "PodScheduled")?.status === "False";
  if (isHeld && labelOf(pod, "spark-role") === "executor") return "held";
  return status.phase === "Running" && conditionOf(status, "Ready")?.status === "False" ? "unready" : undefined;
};

/** What a step could decide differently on: phase, containers that ended, what keeps one from starting or cuts it off, the end, that its node goes. */
const gist = (pod: Obj): unknown => {
  const status = podStatus(pod);
  const { phase, containerStatuses, reason } = status;
  const containers = (containerStatuses ?? [])
    .map(({ name, state }) => [name, state?.terminated?.exitCode, stuckFor(state?.waiting?.reason)])
    .filter(([, exitCode, stuck]) => exitCode !== undefined || stuck !== undefined);
  return [phase, reason, isEnding(pod), containers, cutOff(pod, status), pod.metadata.uid, leavingAt(pod)];
};

/** A driver that was just created is what its creator knows already. */
const news = (before: Obj | undefined, after: Obj): boolean => {
  if (before !== undefined) return !same(gist(before), gist(after));
  const fresh = podStatus(after).phase === "Pending" && !isEnding(after);
  return !(fresh && labelOf(after, "spark-role") === "driver");
};

const isLost = (pod: Obj): boolean => isEnding(pod) || endingOf(pod) !== undefined || leavingAt(pod) !== undefined;

/** An executor is lost, or about to be: whoever replaces it does so now. */
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

/** A SparkApplication as a forwarder knows it. */
export const applicationWatcher = {
  kind: sparkApplications.kind,
  resource: sparkApplications,
  optional: true,
  watches,
} as const;
