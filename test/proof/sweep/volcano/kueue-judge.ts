/**
 * The invariants of a Job, or of an application, that Kueue admits, judged from objects alone; and the stand-in for Kueue's
 * controller, which admits a Workload, in part where it may, evicts it once, and admits the whole when its quota has been given back.
 *
 * A1. A pod is created only while a Workload is admitted, or by a call that was under way when it was evicted.
 * A2. Quota is given back, and a Workload is finished or deleted, only when no unfinished pod is left.
 * A3. At rest no unfinished pod is left without an admitted Workload, and the Workload is finished with its Job.
 * A4. As reclaimable a Workload shows only pods that have succeeded since its quota was reserved, never fewer than before,
 *     and none when its quota is given back.
 * A5. No pod is created beyond as many of its task as Kueue has admitted, or by a call that was under way at an eviction.
 */

import type { Item } from "../../../../shared/simulator/storage/metadata.ts";
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { about, type Part, rewrite, runAfter, subject } from "../../../../shared/simulator/verbs/remove.ts";
import type { Server } from "../../../../shared/simulator/verbs/request.ts";
import { evicted, reserved, reservedInPart } from "../../../support/kueue.ts";
import { at, textAt } from "../fields.ts";
import { forked } from "../forked.ts";
import type { Actor, Oracle } from "../oracle.ts";

const workloads = "workloads.kueue.x-k8s.io";

const statusOf = (workload: Item, type: string): string | undefined => {
  const conditions = at(workload, "status", "conditions");
  const found = (Array.isArray(conditions) ? conditions : []).find((one) => one.type === type);
  return found?.status;
};

const isAdmitted = (workload: Item): boolean =>
  statusOf(workload, "Admitted") === "True" && statusOf(workload, "Evicted") !== "True";

const holdsQuota = (workload: Item): boolean =>
  statusOf(workload, "QuotaReserved") === "True" && statusOf(workload, "Finished") !== "True";

/** An object whose Workload is judged. */
export type Queued = {
  readonly table: string;
  readonly isOf: (pod: Item) => boolean;
  /** The pod set of a pod. */
  readonly setOf: (pod: Item) => string;
  readonly stateOf: (object: Item) => string;
  /** The states in which it rests with a finished Workload. */
  readonly ends: readonly string[];
};

export const queuedJob: Queued = {
  table: "jobs.batch.volcano.sh",
  isOf: ({ metadata }) =>
    metadata.labels?.["volcano.sh/job-name"] === "pi" && metadata.ownerReferences?.[0]?.kind === "Job",
  setOf: ({ metadata }) => metadata.annotations?.["volcano.sh/task-spec"] ?? "",
  stateOf: (job) => textAt(job, "status", "state", "phase") ?? "",
  ends: ["Completed", "Failed", "Terminated"],
};

/** A pod of a Job, or the driver of an application. */
const mayBeEvicted = (pod: Item): boolean => queuedJob.isOf(pod) || pod.metadata.labels?.["spark-role"] === "driver";

const admitMs = 1_000;
/** After its first pods run. */
const evictMs = 10_000;

const admissionOf = (workload: Item, now: number): object =>
  statusOf(workload, "Evicted") === undefined
    ? reservedInPart(workload, "spot", now)
    : reserved(workload, "spot", now, true);

/** The stand-in for Kueue's controller. */
export const kueue = (server: Server): Part => {
  const write = (workload: Item, status: object): void => {
    rewrite(server, workloads, workload, { ...workload, status: { ...Object(workload["status"]), ...status } });
  };
  return {
    onChange: ({ table, type, object }) => {
      if (table === "pods" && mayBeEvicted(object) && textAt(object, "status", "phase") === "Running")
        for (const one of server.store.list(workloads))
          runAfter(server, evictMs, about("kueue.evict", one, { table: workloads }));
      if (table === workloads && type !== "DELETED" && !holdsQuota(object) && statusOf(object, "Finished") !== "True")
        runAfter(server, admitMs, about("kueue.admit", object, { table: workloads }));
    },
    tasks: {
      "kueue.admit": (task) => {
        const workload = subject(server, task);
        if (workload !== undefined && !holdsQuota(workload) && statusOf(workload, "Finished") !== "True")
          write(workload, admissionOf(workload, server.clock.now()));
      },
      "kueue.evict": (task) => {
        const workload = subject(server, task);
        if (workload !== undefined && holdsQuota(workload) && statusOf(workload, "Evicted") === undefined)
          write(workload, evicted(workload, "Preempted", server.clock.now()));
      },
    },
  };
};

type Facts = {
  violations: string[];
  /** By UID: Workloads that are admitted. */
  admitted: Set<string>;
  /** By UID: Workloads that hold quota. */
  reserved: Set<string>;
  finished: boolean;
  /** When the last admission ended, epoch ms. */
  lostAt: number;
  /** By UID: the names of unfinished pods, and their tasks. */
  pods: Map<string, string>;
  tasks: Map<string, string>;
  /** By task: the pods that Kueue has admitted. */
  counts: Map<unknown, number>;
  /** By task: pods that have succeeded since quota was reserved; and the number that was shown as reclaimable. */
  succeeded: Map<string, Set<string>>;
  reclaimed: Map<string, number>;
  phase: string;
};

/** The longest time from a step's first read to the arrival of its last creation: fence, request timeout, rounding. */
const latestMs = 16_000;

const isOver = (pod: Item): boolean => ["Succeeded", "Failed"].includes(textAt(pod, "status", "phase") ?? "");

/** Judges A5: a pod has just been created. */
const checkCount = (facts: Facts, name: string, task: string): void => {
  const living = [...facts.pods.keys()].filter((uid) => facts.tasks.get(uid) === task).length;
  const admitted = facts.counts.get(task) ?? 0;
  if (living > admitted)
    facts.violations.push(`A5: pod ${name} is number ${living} of ${task}, and ${admitted} are admitted`);
};

const hearPod = (facts: Facts, task: string, { type, object }: Change, actor: Actor, now: number): void => {
  const { uid, name } = object.metadata;
  if (type !== "DELETED" && textAt(object, "status", "phase") === "Succeeded")
    facts.succeeded.set(task, new Set([...(facts.succeeded.get(task) ?? []), name]));
  if (type === "ADDED" && actor === "engine" && facts.admitted.size === 0 && now - facts.lostAt > latestMs)
    facts.violations.push(`A1: pod ${name} is created without an admitted Workload`);
  if (type === "DELETED" || isOver(object)) facts.pods.delete(uid);
  else facts.pods.set(uid, name);
  facts.tasks.set(uid, task);
  if (type === "ADDED" && actor === "engine" && now - facts.lostAt > latestMs) checkCount(facts, name, task);
};

/** Judges A4. */
const hearReclaimed = (facts: Facts, workload: Item): void => {
  const list = at(workload, "status", "reclaimablePods");
  const shown = new Map<string, number>((Array.isArray(list) ? list : []).map(({ name, count }) => [name, count]));
  if (!holdsQuota(workload)) {
    if (shown.size > 0 && statusOf(workload, "Finished") !== "True")
      facts.violations.push("A4: quota is given back, and pods stay reclaimable");
    facts.reclaimed = new Map();
    return;
  }
  for (const [task, count] of shown)
    if (count > (facts.succeeded.get(task)?.size ?? 0))
      facts.violations.push(`A4: ${count} pods of ${task} are reclaimable, and fewer have succeeded`);
  for (const [task, count] of facts.reclaimed)
    if ((shown.get(task) ?? 0) < count)
      facts.violations.push(`A4: fewer than ${count} pods of ${task} are reclaimable`);
  facts.reclaimed = shown;
};

const hearWorkload = (facts: Facts, { type, object }: Change, actor: Actor, now: number): void => {
  const { uid } = object.metadata;
  const isThere = type !== "DELETED";
  if (isThere && isAdmitted(object)) {
    const assigned = at(object, "status", "admission", "podSetAssignments");
    facts.counts = new Map((Array.isArray(assigned) ? assigned : []).map(({ name, count }) => [name, count]));
    facts.admitted.add(uid);
  } else if (facts.admitted.delete(uid)) facts.lostAt = now;
  const holds = isThere && holdsQuota(object);
  if (holds && !facts.reserved.has(uid)) facts.succeeded = new Map();
  if (isThere) hearReclaimed(facts, object);
  else facts.reclaimed = new Map();
  if (!holds && facts.reserved.has(uid) && actor === "engine" && facts.pods.size > 0)
    facts.violations.push(`A2: quota is given back while ${[...facts.pods.values()].join(", ")} use it`);
  facts.reserved[holds ? "add" : "delete"](uid);
  facts.finished = isThere && statusOf(object, "Finished") === "True";
};

const judging = (inner: Oracle, of: Queued, facts: Facts): Oracle => ({
  ...inner,
  hear: (change, actor, now) => {
    if (change.table === workloads) hearWorkload(facts, change, actor, now);
    if (change.table === "pods" && of.isOf(change.object)) hearPod(facts, of.setOf(change.object), change, actor, now);
    if (change.table === of.table && change.object.metadata.name === "pi") facts.phase = of.stateOf(change.object);
    inner.hear(change, actor, now);
  },
  end: (objects, now) => {
    if (facts.admitted.size === 0 && facts.pods.size > 0) facts.violations.push("A3: at rest pods have no quota");
    if (of.ends.includes(facts.phase) !== facts.finished)
      facts.violations.push(
        `A3: at rest it is ${facts.phase}, and its Workload is ${facts.finished ? "" : "not "}finished`,
      );
    inner.end(objects, now);
  },
  violations: () => [...inner.violations(), ...new Set(facts.violations)],
  copy: () => judging(inner.copy(), of, forked(facts)),
});

/** Adds the invariants of Kueue to the oracle of a scenario. */
export const withKueue = (inner: Oracle, of: Queued): Oracle =>
  judging(inner, of, {
    ...{ violations: [], admitted: new Set(), reserved: new Set(), finished: false, phase: "" },
    ...{ lostAt: Number.NEGATIVE_INFINITY, pods: new Map(), succeeded: new Map(), reclaimed: new Map() },
    ...{ tasks: new Map(), counts: new Map() },
  });
