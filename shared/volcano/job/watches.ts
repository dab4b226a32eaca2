/** What of the world is news to a job, for those who only watch and need none of its decisions. */
import { same } from "../../core/json.ts";
import type { Obj, Stored } from "../../core/object.ts";
import type { Watch } from "../../core/operator.ts";
import { leavingAt } from "../../kube/node-notice.ts";
import { isEnding, labelOf } from "../../kube/pods.ts";
import { changed } from "../../kube/relevant-change.ts";
import { pods } from "../../kube/resources.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { trim, trimWith } from "../../kube/trim.ts";
import { commandWatch } from "../command/order.ts";
import { trimGroup } from "../podgroup/group.ts";
import { jobs, keys, podGroups } from "../resource.ts";

const statusOf = (object: Obj): Json => (isRecord(object["status"]) ? object["status"] : {});

const statusesIn = (pod: Obj, list: string): readonly Json[] => {
  const statuses = statusOf(pod)[list];
  return Array.isArray(statuses) ? statuses.filter(isRecord) : [];
};

/** Of each container: whether it is ready, and how often it was started again. */
const containersOf = (pod: Obj): readonly unknown[] =>
  ["initContainerStatuses", "containerStatuses"]
    .flatMap((list) => statusesIn(pod, list))
    .map(({ name, ready, restartCount }) => ({ name, ready, restartCount }));

/** What of a pod can be news: its phase, its containers, its end, and that its node is about to go. */
const gist = (pod: Obj): unknown => [statusOf(pod)["phase"], containersOf(pod), isEnding(pod), leavingAt(pod)];

/** What of a group can be news: its phase, and what the scheduler says is in its way; not how often it says so. */
const word = (group: Obj): unknown => {
  const { phase, conditions } = statusOf(group);
  const known = Array.isArray(conditions) ? conditions.filter(isRecord) : [];
  return [phase, known.map(({ type, status, reason }) => ({ type, status, reason }))];
};

const only = (value: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])));

/** All that a job's decisions read of a pod. */
const trimPod = (pod: Stored): Stored => {
  const { conditions } = statusOf(pod);
  const telling = Array.isArray(conditions) ? conditions.filter(isRecord).filter(isTelling) : [];
  return {
    ...trim(pod),
    spec: only(isRecord(pod["spec"]) ? pod["spec"] : {}, ["nodeName"]),
    status: {
      ...only(statusOf(pod), ["phase", "reason", "containerStatuses", "initContainerStatuses"]),
      ...(telling.length === 0 ? {} : { conditions: telling }),
    },
  };
};

/** What nobody was told anything of yet is kept whole: the first step need not read it. */
const trimJob = (job: Stored): Stored => (same(statusOf(job), {}) ? trimWith(job) : trim(job));

/** Where it was placed; and whoever takes a pod away says so first. */
const isTelling = ({ type }: Json): boolean => type === "PodScheduled" || type === "DisruptionTarget";

const hasFailed = (pod: Obj | undefined): boolean => pod !== undefined && statusOf(pod)["phase"] === "Failed";

/** The job that owns it, by its own word. */
const jobOf = (object: Obj): string | undefined =>
  object.metadata.ownerReferences?.find(
    ({ kind, apiVersion }) => kind === jobs.kind && apiVersion.startsWith(jobs.group),
  )?.name;

/** A user has changed its spec: pods that stay are to read the new hosts soon, whatever else its pods have to say. */
const isAskedAnew = (before: Obj | undefined, after: Obj | undefined): boolean =>
  before !== undefined && after !== undefined && before.metadata.generation !== after.metadata.generation;

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
  },
  commandWatch(jobs),
];

/** A job as a forwarder knows it. */
export const jobWatcher = { kind: jobs.kind, resource: jobs, optional: true, watchful: true, watches } as const;
