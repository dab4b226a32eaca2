/** The watches of SparkApplications, for forwarders: they need none of the decisions. */

import { oncePer } from "../../core/cache.ts";
import { fieldsOf, recordsIn, same } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import { type Obj, ownerOfKind, type Resource, type Stored } from "../../core/object.ts";
import type { Patience, Watch } from "../../core/operator.ts";
import { evictedKey } from "../../kube/gang-eviction.ts";
import { membersKey } from "../../kube/gang-members.ts";
import { planKey } from "../../kube/gang-plan.ts";
import { workloadWatch } from "../../kube/kueue-watch.ts";
import { changed, conditionOf, isEnding, labelOf, leavingAt, type PodStatus, podStatus } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";

import { trim, trimPod, trimWith } from "../../kube/trim.ts";
import { endingOf } from "../executors/losses.ts";
import { appNameLabel, ownerAnnotation, podsOf } from "../schema/pod-query.ts";
import { sparkApplications, volcanoPodGroups } from "../schema/resource.ts";

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
const applicationGist = oncePer((pod: Obj): readonly unknown[] => {
  const status = podStatus(pod);
  const { phase, containerStatuses, reason } = status;
  const containers = (containerStatuses ?? [])
    .map(({ name, state }) => [name, state?.terminated?.exitCode, stuckFor(state?.waiting?.reason)])
    .filter(([, exitCode, stuck]) => exitCode !== undefined || stuck !== undefined);
  return [phase, reason, isEnding(pod), containers, cutOff(pod, status), pod.metadata.uid, leavingAt(pod)];
});

/** True for news. A driver pod that was just created is none: the step that created it knows it. */
const news = (before: Obj | undefined, after: Obj): boolean => {
  if (before !== undefined) return !same(applicationGist(before), applicationGist(after));
  const fresh = podStatus(after).phase === "Pending" && !isEnding(after);
  return !(fresh && labelOf(after, "spark-role") === "driver");
};

const isLost = (pod: Obj): boolean => isEnding(pod) || endingOf(pod) !== undefined || leavingAt(pod) !== undefined;

/** True when an executor is lost or about to be: the change is urgent, because its replacement must not wait. */
export const loss = (before: Obj | undefined, after: Obj | undefined): boolean => {
  const pod = after ?? before;
  if (pod === undefined || labelOf(pod, "spark-role") !== "executor") return false;
  const was = before !== undefined && isLost(before);
  return !was && (after === undefined || isLost(after));
};

const hasStuck = ({ containerStatuses = [] }: PodStatus): boolean =>
  containerStatuses.some(({ state }) => stuckFor(state?.waiting?.reason) !== undefined);

/**
 * An executor of the driver's own allocator is created, starts and ends: the driver replaces it, and a step only tells of
 * it. One that Rekindle created, that cannot start, or whose node is in doubt or about to go, may need an act. A step may
 * wait until one is gone; all that go together are one message.
 */
const patience = (before: Obj | undefined, after: Obj | undefined): Patience | undefined => {
  const pod = after ?? before;
  if (pod === undefined || labelOf(pod, "spark-role") !== "executor") return undefined;
  if (pod.metadata.annotations?.[ownerAnnotation] !== undefined) return undefined;
  if (after === undefined) return "moment";
  const status = podStatus(after);
  if (cutOff(after, status) !== undefined || hasStuck(status) || leavingAt(after) !== undefined) return undefined;
  return status.phase === "Pending" && !isLost(after) ? "long" : "brief";
};

/** Why a group waits: the messages of its conditions. */
const reasonsOf = ({ status }: Obj): readonly unknown[] =>
  recordsIn(fieldsOf(status)["conditions"]).map(({ type, reason, message }) => [type, reason, message]);

/** The facts of a group that decide a step: admitted or waiting, with a plan or without, evicted, and why it waits. */
const groupGist = (group: Obj): unknown => {
  const { annotations = {} } = group.metadata;
  return [fieldsOf(group.status)["phase"], annotations[planKey], annotations[evictedKey], reasonsOf(group)];
};

/** Keeps the conditions of a group besides. */
const trimGroup = (group: Stored): Stored => {
  const trimmed = trim(group);
  const { conditions } = fieldsOf(group.status);
  return {
    ...trimmed,
    status: { ...fieldsOf(trimmed.status), ...(conditions === undefined ? {} : { conditions }) },
  };
};

/** Returns the application whose driver and executors the group has; undefined for groups that state no members. */
const gangOwnerOf = (group: Obj, applications: Resource): string | undefined =>
  group.metadata.annotations?.[membersKey] === undefined ? undefined : ownerOfKind(group, applications)?.name;

/** A waiting application of this resource goes on when its group is admitted, and its record says what the group lacks. */
export const groupWatch = (applications: Resource): Watch => ({
  resource: volcanoPodGroups,
  optional: true,
  trim: trimGroup,
  ownerName: (group) => gangOwnerOf(group, applications),
  matters: (before, after) => before !== undefined && !same(groupGist(before), groupGist(after)),
});

/** Keeps an application whole that has no status yet, so that its first step need not read it. */
const trimApplication = (application: Stored): Stored =>
  same(application.status ?? {}, {}) ? trimWith(application) : trim(application);

const applicationWatches: readonly Watch[] = [
  {
    resource: sparkApplications,
    trim: trimApplication,
    ownerName: (object) => object.metadata.name,
    matters: changed,
  },
  {
    resource: pods,
    selector: "sparkoperator.k8s.io/launched-by-spark-operator=true",
    trim: trimPod,
    ownerName: (pod) => labelOf(pod, appNameLabel),
    matters: news,
    urgent: loss,
    patience,
  },
  groupWatch(sparkApplications),
  // The application's own Workload, and its growths, which this one owns.
  workloadWatch((workload) => ownerOfKind(workload, sparkApplications)?.name ?? labelOf(workload, appNameLabel)),
];

/** True in the states that upstream's operator calls terminal, and while the spec suspends the application. */
const hasEnded = ({ status }: Stored): boolean =>
  ["COMPLETED", "FAILED", "SUSPENDED"].includes(String(fieldsOf(fieldsOf(status)["applicationState"])["state"]));

/** The SparkApplication watcher for forwarders. */
export const sparkApplicationWatcher = {
  kind: sparkApplications.kind,
  resource: sparkApplications,
  optional: true,
  hasEnded,
  watches: applicationWatches,
  encloses: (key: Key) => [podsOf(key)],
} as const;
