/** The watches of a Job: the changes that send its key, and the fields that are kept. It imports no decisions. */

import { fieldsOf, isRecord, same } from "../../core/json.ts";
import { type Obj, ownerOfKind, type Stored } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { evictedKey } from "../../kube/gang-eviction.ts";
import { workloadWatch } from "../../kube/kueue-watch.ts";
import { changed, isEnding, labelOf, leavingAt } from "../../kube/pods.ts";
import { roomKey } from "../../kube/queue-room.ts";
import { pods } from "../../kube/resources.ts";
import type { Json } from "../../kube/responses.ts";
import { only, trim, trimWith } from "../../kube/trim.ts";
import { commandWatch } from "../command/order.ts";
import { trimGroup } from "../podgroup/group.ts";
import { jobs, keys, podGroups } from "../schema/resource.ts";

const statusOf = (object: Obj): Json => fieldsOf(object.status);

const statusesIn = (pod: Obj, list: string): readonly Json[] => {
  const statuses = statusOf(pod)[list];
  return Array.isArray(statuses) ? statuses.filter(isRecord) : [];
};

/** Readiness and restart count of each container. */
const containersOf = (pod: Obj): readonly unknown[] =>
  ["initContainerStatuses", "containerStatuses"]
    .flatMap((list) => statusesIn(pod, list))
    .map(({ name, ready, restartCount }) => ({ name, ready, restartCount }));

/** The fields of a pod whose change sends the key: phase, containers, deletion, and the notice of its node. */
const gist = (pod: Obj): unknown => [statusOf(pod)["phase"], containersOf(pod), isEnding(pod), leavingAt(pod)];

/**
 * The fields of a group whose change sends the key: phase and conditions, without their messages and times, the mark of
 * evicted pods, and the room of its queue.
 */
const word = (group: Obj): unknown => {
  const { phase, conditions } = statusOf(group);
  const known = Array.isArray(conditions) ? conditions.filter(isRecord) : [];
  return [
    phase,
    group.metadata.annotations?.[evictedKey],
    group.metadata.annotations?.[roomKey],
    known.map(({ type, status, reason }) => ({ type, status, reason })),
  ];
};

/** Keeps the fields of a pod that a job's decisions read. */
const trimPod = (pod: Stored): Stored => {
  const { conditions } = statusOf(pod);
  const reported = Array.isArray(conditions) ? conditions.filter(isRecord).filter(isReported) : [];
  return {
    ...trim(pod),
    spec: only(fieldsOf(pod.spec), ["nodeName"]),
    status: {
      ...only(statusOf(pod), ["phase", "reason", "containerStatuses", "initContainerStatuses"]),
      ...(reported.length === 0 ? {} : { conditions: reported }),
    },
  };
};

/** True if the spec changed: pods that stay must read the new hosts soon, so the key is sent at once. */
const isAskedAnew = (before: Obj | undefined, after: Obj | undefined): boolean =>
  before !== undefined && after !== undefined && before.metadata.generation !== after.metadata.generation;

/** Keeps a job whole that has no status yet, or a changed spec, so that the step of this change need not read it. */
const trimJob = (job: Stored, before?: Stored): Stored =>
  same(statusOf(job), {}) || isAskedAnew(before, job) ? trimWith(job) : trim(job);

/** True for the conditions that decisions read: PodScheduled, and DisruptionTarget, which precedes a disruption. */
const isReported = ({ type }: Json): boolean => type === "PodScheduled" || type === "DisruptionTarget";

const hasFailed = (pod: Obj | undefined): boolean => pod !== undefined && statusOf(pod)["phase"] === "Failed";

/** True of a group that the scheduler has admitted, so that the pods of its job may be created. */
const isAdmitted = (group: Obj | undefined): boolean =>
  group !== undefined && ![undefined, "", "Pending"].some((phase) => statusOf(group)["phase"] === phase);

/** Returns the name of the Job among the object's owners. */
const jobOf = (object: Obj): string | undefined => ownerOfKind(object, jobs)?.name;

const watches: readonly Watch[] = [
  {
    resource: jobs,
    trim: trimJob,
    ownerName: (object) => object.metadata.name,
    matters: changed,
    urgent: isAskedAnew,
  },
  {
    resource: pods,
    selector: keys.jobName,
    trim: trimPod,
    ownerName: (pod) => labelOf(pod, keys.jobName),
    matters: (before, after) => before === undefined || !same(gist(before), gist(after)),
    urgent: (before, after) => hasFailed(after) && !hasFailed(before),
  },
  {
    resource: podGroups,
    optional: true,
    trim: trimGroup,
    ownerName: jobOf,
    matters: (before, after) => before === undefined || !same(word(before), word(after)) || isEnding(after),
    // A thousand deleted pods before a restart let the next message of the key wait for two seconds.
    urgent: (before, after) => isAdmitted(after) && !isAdmitted(before),
  },
  commandWatch(jobs),
  workloadWatch(jobOf),
];

/** True in the phases that a job leaves only by a Command. */
const hasEnded = (job: Stored): boolean =>
  ["Completed", "Failed", "Terminated", "Aborted"].includes(String(fieldsOf(statusOf(job)["state"])["phase"]));

/** The Job kind as a forwarder needs it. */
export const jobWatcher = {
  kind: jobs.kind,
  resource: jobs,
  optional: true,
  hasEnded,
  watches,
} as const;
