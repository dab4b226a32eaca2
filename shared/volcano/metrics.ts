/**
 * Volcano's metrics: those of upstream's controllers under their names and labels, and Rekindle's beside them. Metrics
 * of state are counted from the objects, and so are upstream's counters of ended jobs, which it drops with the job;
 * metrics of events are counted by the status writes that won.
 */

import * as z from "zod";
import { fieldsOf } from "../core/json.ts";
import type { CountedKind, Figure, MetricSample } from "../core/metric.ts";
import type { Stored } from "../core/object.ts";
import { instantOf } from "../core/time.ts";
import { evictedKey } from "../kube/gang-eviction.ts";
import { lacksRoomKey, takenBackKey } from "../kube/gang-plan.ts";
import { amountsIn } from "../kube/pod-usage.ts";
import type { QueueMemory } from "./queue/state/memory.ts";
import { queueOfGroup, shownState } from "./queue/state/tree.ts";
import { isPhase, jobs, podGroups, queues } from "./schema/resource.ts";

/** A metric and the labels of its values. */
type Labelled = Figure & { readonly labels: readonly string[] };

/** As upstream's, doubling from 5 ms on. */
const latencyBuckets = Array.from({ length: 15 }, (_, at) => 5 * 2 ** at);

const latency = "volcano_controller_job_to_pod_creation_latency_milliseconds";
const allMade = "volcano_controller_job_e2e_creation_duration_milliseconds";
const byJob = ["job_name", "queue_name"] as const;

/** Phases of a PodGroup, as upstream counts them by queue. */
const groupPhases = ["Pending", "Inqueue", "Running", "Unknown", "Completed"] as const;

const groupFigure = (phase: string): string => `volcano_queue_pod_group_${phase.toLowerCase()}_count`;

const waitingFigure = "rekindle_groups_waiting";
const evictionFigure = "rekindle_gang_evictions_total";

/** The annotations of a group that waits for a reason of its own; an admission round writes them. */
const waitingReasons = [
  [takenBackKey, "taken back"],
  [evictedKey, "evicted"],
  [lacksRoomKey, "room"],
] as const;

const waitingReasonOf = ({ metadata: { annotations = {} } }: Stored): string =>
  waitingReasons.find(([key]) => annotations[key] !== undefined)?.[1] ?? "other";

export const volcanoFigures: readonly Labelled[] = [
  {
    name: "volcano_job_completed_phase_count",
    help: "Jobs that completed",
    kind: "counter",
    ofObjects: true,
    labels: byJob,
  },
  { name: "volcano_job_failed_phase_count", help: "Jobs that failed", kind: "counter", ofObjects: true, labels: byJob },
  {
    name: latency,
    help: "From a job's creation to each of its pods",
    kind: "histogram",
    buckets: latencyBuckets,
    labels: [],
  },
  {
    name: allMade,
    help: "From a job's creation to the last of its pods, of its latest version",
    kind: "gauge",
    lasting: true,
    labels: ["job_name", "queue", "job_namespace"],
  },
  ...groupPhases.map((phase): Labelled => {
    const help = `PodGroups of the queue that are ${phase}`;
    return { name: groupFigure(phase), help, kind: "gauge", labels: ["queue_name"] };
  }),
  {
    name: waitingFigure,
    help: "PodGroups that wait to be admitted, by reason: room (nodes lack room), taken back (its pods did not get their places), evicted (its pods were evicted for another group), other (its queue or its spec)",
    kind: "gauge",
    labels: ["queue_name", "reason"],
  },
  {
    name: evictionFigure,
    help: "Pods chosen to be evicted for PodGroups that lack room, by way: preempt (of lower priorities), reclaim (of queues with more than they deserve)",
    kind: "counter",
    labels: ["way"],
  },
  { name: "rekindle_jobs", help: "Jobs by phase", kind: "gauge", labels: ["phase", "queue_name"] },
  { name: "rekindle_job_phases_total", help: "Phases that jobs entered", kind: "counter", labels: ["phase"] },
  { name: "rekindle_job_retries_total", help: "Retries that jobs spent", kind: "counter", labels: ["queue_name"] },
  { name: "rekindle_queues", help: "Queues by state", kind: "gauge", labels: ["state"] },
  {
    name: "rekindle_queue_allocated",
    help: "Resources allocated in a queue according to the scheduler, in each resource's own unit",
    kind: "gauge",
    labels: ["queue_name", "resource"],
  },
];

const count = z.number().int().catch(0);

const shape = z.object({
  state: z.object({ phase: z.string().catch("") }).catch({ phase: "" }),
  retryCount: count,
  version: count,
  pending: count,
  running: count,
  succeeded: count,
  failed: count,
  unknown: count,
});

type Status = z.infer<typeof shape>;

const read = (status: unknown): Status => shape.parse(typeof status === "object" && status !== null ? status : {});

const podsIn = ({ pending, running, succeeded, failed, unknown }: Status): number =>
  pending + running + succeeded + failed + unknown;

const counted = (name: string, value: number, of: MetricSample["of"]): MetricSample => ({
  do: "count",
  name,
  value,
  of,
});

/** Phases in which pods are created; in every other phase, a new version shows the pods kept from the one before. */
const input: readonly string[] = ["Pending", "Running"];

/** Returns how many pods this status shows and the one before did not; in another version all pods are new. */
const newPods = (before: Status, after: Status): number =>
  input.includes(after.state.phase)
    ? Math.max(0, podsIn(after) - (before.version === after.version ? podsIn(before) : 0))
    : 0;

const wanting = z
  .object({ tasks: z.array(z.object({ replicas: count }).catch({ replicas: 0 })).catch([]) })
  .catch({ tasks: [] });

/** Pods that the job asks for, as far as its spec can be read. */
const wantedBy = (job: Stored): number =>
  wanting.parse(job.spec).tasks.reduce((total, { replicas }) => total + replicas, 0);

/**
 * True if this status is the first of its version to show all of the job's pods. Once a version is Running, further
 * pods count as replacements, because no status tells them from the first ones.
 */
const areAllMade = (job: Stored, before: Status, after: Status): boolean => {
  const wanted = wantedBy(job);
  if (wanted === 0 || podsIn(after) < wanted || !input.includes(after.state.phase)) return false;
  return before.version !== after.version || (before.state.phase !== "Running" && podsIn(before) < wanted);
};

/** Has upstream's labels for this metric, which differ from those of its other metrics. */
const durationOf = (job: Stored, { version }: Status, value: number): MetricSample => {
  const { name, namespace = "", uid } = job.metadata;
  const labels = { job_name: name, queue: queueOfGroup(job), job_namespace: namespace };
  return { do: "observe", name: allMade, value, of: { ...labels, namespace, uid, version: `${version}` } };
};

/** Returns the samples of one status write of a Job that won; `now` in epoch ms. */
export const measuresOfJob = (job: Stored, status: unknown, now: number): readonly MetricSample[] => {
  const [before, after] = [read(job.status), read(status)];
  const { namespace = "", creationTimestamp } = job.metadata;
  const { phase } = after.state;
  const value = Math.max(0, now - (instantOf(creationTimestamp) ?? now));
  const retries = after.retryCount - before.retryCount;
  return [
    ...(phase === before.state.phase || !isPhase(phase)
      ? []
      : [counted("rekindle_job_phases_total", 1, { namespace, phase })]),
    ...(retries > 0
      ? [counted("rekindle_job_retries_total", retries, { namespace, queue_name: queueOfGroup(job) })]
      : []),
    ...Array.from(
      { length: newPods(before, after) },
      (): MetricSample => ({ do: "observe", name: latency, value, of: { namespace } }),
    ),
    ...(areAllMade(job, before, after) ? [durationOf(job, after, value)] : []),
  ];
};

const endings: Readonly<Record<string, string>> = {
  Completed: "volcano_job_completed_phase_count",
  Failed: "volcano_job_failed_phase_count",
};

/** Returns the samples of one Job as it stands, and one that keeps its lasting metric; none without a phase. */
export const gaugesOfJob = (job: Stored): readonly MetricSample[] => {
  const { phase } = read(job.status).state;
  if (!isPhase(phase)) return [];
  const { name, namespace = "", uid } = job.metadata;
  const queue_name = queueOfGroup(job);
  const ending = endings[phase];
  return [
    counted("rekindle_jobs", 1, { phase, queue_name }),
    counted(allMade, 0, { uid }),
    ...(ending === undefined ? [] : [counted(ending, 1, { namespace, job_name: `${namespace}/${name}`, queue_name })]),
  ];
};

/** Returns the samples of one PodGroup as it stands: its phase, Pending if it has none, and why it waits, by queue. */
export const gaugesOfGroup = (group: Stored): readonly MetricSample[] => {
  const { phase = "Pending" } = fieldsOf(group.status);
  const known = groupPhases.find((one) => one === (phase === "" ? "Pending" : phase));
  if (known === undefined) return [];
  const queue_name = queueOfGroup(group);
  const waiting =
    known === "Pending" ? [counted(waitingFigure, 1, { queue_name, reason: waitingReasonOf(group) })] : [];
  return [counted(groupFigure(known), 1, { queue_name }), ...waiting];
};

/** Returns amounts in units of the resource: 500m of CPU is 0.5. */
const allocatedIn = (queue: Stored): readonly (readonly [string, number])[] => {
  const { allocated } = fieldsOf(queue.status);
  return [...amountsIn(allocated)].map(([resource, { nano }]) => [resource, Number(nano) / 1e9] as const);
};

/** Returns the samples of one Queue: its state, its allocated amounts, and a zero for each phase of its groups. */
export const gaugesOfQueue = (queue: Stored): readonly MetricSample[] => {
  const queue_name = queue.metadata.name;
  return [
    counted("rekindle_queues", 1, { state: shownState(queue) }),
    ...groupPhases.map((phase) => counted(groupFigure(phase), 0, { queue_name })),
    ...allocatedIn(queue).map(([resource, value]) =>
      counted("rekindle_queue_allocated", value, { queue_name, resource }),
    ),
  ];
};

export const volcanoGauges: readonly CountedKind[] = [
  { resource: jobs, samplesOf: gaugesOfJob },
  { resource: podGroups, samplesOf: gaugesOfGroup },
  { resource: queues, samplesOf: gaugesOfQueue, everywhere: true },
];

/** Returns the samples of one save of a Queue's record: a nomination is saved once, before its first eviction. */
export const measuresOfQueueSave = (before: QueueMemory | undefined, after: QueueMemory): readonly MetricSample[] => {
  const known = new Set(before?.nominations?.map(({ uid, at }) => `${uid} ${at}`));
  const added = (after.nominations ?? []).filter(({ uid, at }) => !known.has(`${uid} ${at}`));
  return added.map(({ way, victims }) => {
    const pods = Object.values(victims).reduce((sum, victim) => sum + Object.keys(victim.pods).length, 0);
    return counted(evictionFigure, pods, { way });
  });
};
