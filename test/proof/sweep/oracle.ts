/**
 * The invariants after every call and at the end, judged from objects alone: the oracle asks nothing of the engine or
 * of a kind's room, so that a mistake of theirs cannot be a mistake here.
 *
 * I1. At most one live driver per application; none without a saved plan, of a past attempt, or later than 16 s after
 *     the save that planned it; one body per attempt, unless a user stopped the first
 *     (deleted, suspended or changed the application, or deleted the pod).
 * I2. No executor of an earlier driver runs when the next driver comes, with the same exception.
 * I3. Reported attempts are the attempts that were made.
 * I4. An end is final; attempts and generations only grow; those of another cluster do not count.
 * I5. Steps write only objects that this application owns.
 * I7. Nothing is left of a deleted application.
 * I8. No secret in an event, a status, a checkpoint, a message or a line.
 * I9. A checkpoint can be read and is small.
 * E1–E9, E18. Of its executors: see `executor-invariants.ts`. E10–E12. Of their number: see `demand-invariants.ts`.
 * E13–E15. Of their claims: see `claim-invariants.ts`.
 * E16, E17. Of their memory and machines: see `machine-invariants.ts`.
 * W1. A record's past waits are those of its saves: see `past-waits.ts`.
 * I10. A status shows one run: a run under way shows no end, and no executors of an earlier one.
 * I11. With Kueue's queue label, which ends its admission at SUBMISSION_FAILED, no status shows that state while a retry is left.
 */

import type { PodScript } from "../../../shared/simulator/nodes/script.ts";
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { textOf } from "../../../shared/simulator/verbs/read.ts";
import { checkClaims } from "./claim-invariants.ts";
import { checkEpoch, checkIdleness, checkSettled, type Demand, farBehind, savesBehind } from "./demand-invariants.ts";
import {
  checkAtWork,
  checkCores,
  checkCount,
  checkHolders,
  checkId,
  checkLeft,
  checkLosses,
  checkMost,
  checkPlace,
  isClosing,
  memoryLack,
  noticeOn,
} from "./executor-invariants.ts";
import { type Facts, fresh, type Pod, type Told } from "./facts.ts";
import { at, namesOf, numberAt, ownersOf, roleOf, startOf, textAt } from "./fields.ts";
import { forked } from "./forked.ts";
import { hearLacks, hearMachines, hearSize, leftBehind } from "./machine-invariants.ts";
import { isCounted, isDelivery, isLogs, isOfQueue, isOver, isSameButStatus, plannedIn, runOf } from "./objects.ts";
import { checkWaits } from "./past-waits.ts";

export type Actor = "engine" | "user" | "cluster";

export type Subject = {
  readonly namespace: string;
  readonly name: string;
  /** Secrets, which no output may contain. */
  readonly canaries: readonly string[];
  /** Time, ms, for which every executor works from its start on; none of them may be ended because fewer are wanted. */
  readonly busyMs?: number;
  /** Ids of executors that hold shuffle data from their start on; "*": all of them. */
  readonly holders?: readonly string[];
  /** The demand of its driver, where the number of executors follows it. */
  readonly demand?: Demand | undefined;
  /** The memory of its executors, MiB, where it grows after a lack of it. */
  readonly sizes?: readonly number[] | undefined;
  /** The tasks of a Connect server. */
  readonly tasks?: PodScript["tasks"] | undefined;
  /** Steps of queues run, too, and admit its group. */
  readonly queued?: boolean;
  /** One of several oracles that watch together: the owner of a write is judged for all of them at once. */
  readonly together?: boolean;
};

export type Oracle = {
  hear(change: Change, actor: Actor, now: number): void;
  /** Whether the engine may make this change for this subject. */
  permits(change: Change): boolean;
  /** A line of a report or a message, as text. */
  said(text: string, where: string): void;
  /** A message was lost; the resync at this time requests a step in its place. */
  lost?(resyncAt: number): void;
  /** A step reads this path as it was so many revisions ago. */
  behind?(path: string, revisions: number, now: number): void;
  /** In a scenario with listeners: a request to one of them. */
  told?(told: Told, now: number): void;
  /** The run is over: judges the objects that are left. */
  end(objects: readonly { readonly table: string; readonly object: Change["object"] }[], now: number): void;
  violations(): readonly string[];
  /** Violations that count only in a run without a fault. */
  faultless?(): readonly string[];
  /** The state that the application's status shows. */
  phase(): string;
  uid(): string | undefined;
  copy(): Oracle;
};

const longestArrivalMs = 16_000;
/** The longest life of a stray driver once it runs. */
const longestStrayMs = 3_000;
const apps = "sparkapplications.sparkoperator.k8s.io";
const checkpoints = "checkpoints.rekindle.dev";
const final = new Set(["COMPLETED", "FAILED"]);
const underWay = new Set(["SUBMITTED", "RUNNING"]);
/** The tables of a run's objects. */
const accompanying: ReadonlySet<string> = new Set([
  ...["pods", "services", "configmaps", "persistentvolumeclaims"],
  ...["ingresses.networking.k8s.io", "networkpolicies.networking.k8s.io"],
  ...["poddisruptionbudgets.policy", "podgroups.scheduling.volcano.sh", "workloads.kueue.x-k8s.io"],
]);

/** True of a change of an object of others that a step may cause. */
const isIncidental = (change: Change): boolean => isClosing(change) || isCounted(change);

export const openOracle = (subject: Subject, facts: Facts = fresh()): Oracle => {
  const blame = (what: string): void => {
    if (!facts.violations.includes(what)) facts.violations.push(what);
  };
  const isSubject = (object: Change["object"]): boolean =>
    object.metadata.namespace === subject.namespace && object.metadata.name === subject.name;
  const isRecord = (object: Change["object"]): boolean =>
    object.metadata.namespace === subject.namespace && object.metadata.name === `sparkapplication.${subject.name}`;
  const isKept = (object: Change["object"]): boolean =>
    isRecord(object) || isDelivery(object, subject) || isLogs(object, subject);
  const checkSecret = (text: string, where: string): void => {
    if (subject.canaries.some((canary) => text.includes(canary))) blame(`I8: a secret stands in ${where}`);
  };

  /** I4, for the status. */
  const hearPhase = (object: Change["object"], run: string): void => {
    const phase = textAt(object, "status", "applicationState", "state") ?? "";
    const { ended } = facts;
    if (ended !== undefined && ended.run === run && ended.phase !== phase)
      blame(`I4: ${ended.phase} became ${phase || "empty"}`);
    if (!final.has(phase)) facts.ended = undefined;
    else if (ended?.phase !== phase) facts.ended = { phase, run };
    facts.phase = phase;
  };

  /** I11. */
  const checkKueue = ({ metadata: { labels = {} }, spec, status }: Change["object"]): void => {
    const left = numberAt(spec, "restartPolicy", "onSubmissionFailureRetries") ?? 0;
    const isRetried = (numberAt(status, "submissionAttempts") ?? 0) <= left;
    if (facts.phase === "SUBMISSION_FAILED" && isRetried && labels["kueue.x-k8s.io/queue-name"] !== undefined)
      blame("I11: Kueue takes a submission that is tried again for the end");
  };

  /** I10: a run that is under way shows nothing of the one before. */
  const checkAttempt = (object: Change["object"]): void => {
    if (underWay.has(facts.phase) && textAt(object, "status", "terminationTime"))
      blame(`I10: ${facts.phase} shows when an earlier run ended`);
    const run = textAt(object, "status", "submissionID") ?? "";
    for (const name of Object.keys(Object(at(object, "status", "executorState")))) {
      const first = facts.shownUnder.get(name) ?? run;
      facts.shownUnder.set(name, first);
      if (first !== run) blame(`I10: ${facts.phase} shows ${name} of an earlier submission`);
    }
  };

  const hearApp = ({ type, object }: Change, now: number): void => {
    const { uid, deletionTimestamp } = object.metadata;
    if (type === "DELETED") {
      facts.gone ||= uid === facts.uid;
      return;
    }
    if (facts.uid !== uid) Object.assign(facts, { uid, gone: false });
    const generation = numberAt(object, "metadata", "generation") ?? 0;
    const run = runOf(object);
    if (generation < facts.generation) blame("I4: the generation went back");
    if (generation > facts.generation || deletionTimestamp !== undefined) facts.stoppedAt = now;
    if (run !== facts.run) facts.specChangedAt = now;
    facts.most = numberAt(object, "spec", "dynamicAllocation", "maxExecutors");
    Object.assign(facts, { generation, run });
    hearPhase(object, run);
    checkSecret(JSON.stringify(object["status"]) ?? "", "a status");
    checkAttempt(object);
    checkKueue(object);
  };

  const checkRecord = (change: Change, now: number): void => {
    const { object } = change;
    checkWaits(change, now, blame);
    const spec = object["spec"];
    const text = textOf(object);
    checkSecret(text, "a checkpoint");
    checkLosses(facts, object, blame);
    const readable = numberAt(spec, "schema") === 1 && textAt(spec, "uid") && at(spec, "memory") !== undefined;
    if (!readable) blame("I9: a checkpoint cannot be read");
    if (text.length > 65_536) blame("I9: a checkpoint is larger than 64 KiB");
  };

  const hearRecord = (change: Change, actor: Actor, now: number): void => {
    const { type, object } = change;
    if (type === "DELETED") {
      Object.assign(facts, { recorded: false, shortOfMemory: undefined });
      return;
    }
    if (actor === "engine") checkRecord(change, now);
    hearLacks(facts, object, now);
    const { cluster, uid, attempt, generation, plannedAt, driverAttempt } = plannedIn(object);
    const moved = cluster !== facts.cluster;
    const isSame = facts.recorded && uid === facts.recordOf;
    if (isSame && attempt < facts.attempt) blame(`I4: attempt went back from ${facts.attempt} to ${attempt}`);
    if (isSame && !moved && generation < facts.recordGeneration) blame("I4: the checkpoint's generation went back");
    if (plannedAt !== facts.plannedAt || attempt !== facts.attempt) facts.plannedSeenAt = now;
    Object.assign(facts, { recorded: true, recordOf: uid, cluster, attempt, driverAttempt });
    Object.assign(facts, { recordGeneration: generation, plannedAt, shortOfMemory: memoryLack(facts, object, now) });
  };

  const bodies = (attempt: number): Facts["born"] =>
    facts.born.filter((one) => one.app === facts.uid && one.attempt === attempt);
  const live = (): readonly Pod[] => [...facts.pods.values()].filter((pod) => pod.live && pod.app === facts.uid);

  /** I1: a driver is planned by the newest save, not long ago. */
  const checkPlan = (attempt: number, now: number): void => {
    if (!facts.recorded) blame(`I1: the driver of attempt ${attempt} stands in no record`);
    else if (attempt !== facts.attempt)
      blame(`I1: a driver of attempt ${attempt} comes while attempt ${facts.attempt} is recorded`);
    else if (now - facts.plannedSeenAt > longestArrivalMs)
      blame(`I1: a driver comes ${now - facts.plannedSeenAt} ms after the save that planned it`);
  };

  const born = (pod: Pod, now: number): void => {
    const { attempt } = pod;
    if (live().some((one) => one.role === "driver")) blame(`I1: a second driver lives (attempt ${attempt})`);
    facts.born.push({ app: pod.app, attempt, at: now, stray: facts.driverAttempt !== attempt });
    const [before, second] = bodies(attempt);
    const stopped = facts.gone || facts.stoppedAt > (before?.at ?? 0);
    if (live().some((one) => one.role === "executor") && !(second !== undefined && stopped))
      blame(`I2: executors of an earlier driver live when attempt ${attempt} comes`);
    if (second !== undefined && !stopped) blame(`I1: attempt ${attempt} got a second body`);
    checkPlan(attempt, now);
  };

  /**
   * I1: a driver of a past attempt is ended soon. The creation of a driver is no news to a forwarder, so one that does
   * not start, as its config map was deleted, is only found when the fence has passed.
   */
  const checkStrays = (now: number): void => {
    for (const { stray, began, live: lives, attempt } of facts.pods.values()) {
      if (!lives || stray === undefined) continue;
      if (began !== undefined && now - Math.max(stray, began) > longestStrayMs)
        blame(`I1: a stray driver of attempt ${attempt} is let run`);
      if (now - stray > longestArrivalMs + longestStrayMs)
        blame(`I1: a stray driver of attempt ${attempt} is let wait`);
    }
  };

  /** Counts a driver that another controller submitted before: Rekindle follows it, and no save planned it. */
  const adopt = (): void => {
    if (live().some(({ role }) => role === "driver")) blame("I1: a second driver lives");
    facts.adopted += 1;
  };

  const appearDriver = (object: Change["object"], app: string, actor: Actor, now: number): void => {
    const { uid, name, labels } = object.metadata;
    const attempt = Number(labels?.["rekindle.dev/attempt"] ?? 0);
    const stray = facts.driverAttempt === attempt ? undefined : now;
    const pod: Pod = { role: "driver", name, app, attempt, driver: uid, live: true, stray, node: undefined };
    if (subject.demand !== undefined)
      checkEpoch(
        object,
        attempt,
        facts.born.map((one) => one.attempt),
        blame,
      );
    if (actor === "engine") born(pod, now);
    else adopt();
    facts.pods.set(uid, actor === "engine" ? pod : { ...pod, stray: undefined });
  };

  const appear = (object: Change["object"], actor: Actor, now: number): void => {
    const { uid, name } = object.metadata;
    const role = roleOf(object);
    const owners = ownersOf(object);
    if (role === "driver" && facts.uid !== undefined && owners.includes(facts.uid))
      appearDriver(object, facts.uid, actor, now);
    const driver = owners.map((owner) => facts.pods.get(owner)).find((pod) => pod?.role === "driver");
    if (role !== "executor" || driver === undefined) return;
    const { app, attempt } = driver;
    const pod: Pod = { role, name, app, attempt, driver: driver.driver, live: true, stray: undefined, node: undefined };
    facts.pods.set(uid, pod);
    checkId(facts, object, blame);
    checkMost(facts, driver.driver, subject.demand?.granted, blame);
    if (subject.demand !== undefined) checkEpoch(object, driver.attempt, [], blame);
    checkPlace(facts, object, now, blame);
    checkCores(facts, object, now, blame);
  };

  /** E4, E9 and E11. */
  const checkEnding = (pod: Pod, change: Change, now: number): void => {
    checkAtWork(pod, change, { busyMs: subject.busyMs ?? 0, now }, blame);
    checkHolders(facts, pod, change, subject.holders ?? [], blame);
    const { demand } = subject;
    if (demand !== undefined) checkIdleness(facts, pod, demand, { object: change.object, now }, blame);
  };

  const hearPod = (change: Change, actor: Actor, now: number): void => {
    const { type, object } = change;
    const known = facts.pods.get(object.metadata.uid);
    if (known === undefined && type === "ADDED") appear(object, actor, now);
    hearSize(facts, change, now, { sizes: subject.sizes, blame });
    if (known === undefined) return;
    if (actor === "engine") checkEnding(known, change, now);
    known.began ??= startOf(object);
    known.live = type !== "DELETED" && !isOver(object);
    known.node = textAt(object, "spec", "nodeName");
    known.notice ??= noticeOn(object, now);
    known.leaving ||= object.metadata.deletionTimestamp !== undefined;
    if (object.metadata.deletionTimestamp !== undefined) known.stray = undefined;
    if (actor === "user" && known.role === "driver") facts.stoppedAt = now;
  };

  /** True for objects owned by the application, by one of its drivers, or by the Workload by which Kueue admits it. */
  const isOwned = (object: Change["object"]): boolean =>
    ownersOf(object).some(
      (owner) => owner === facts.uid || owner === facts.workload || facts.pods.get(owner)?.role === "driver",
    );

  const hearWorkload = ({ table, object }: Change): void => {
    if (table === "workloads.kueue.x-k8s.io" && facts.uid !== undefined && ownersOf(object).includes(facts.uid))
      facts.workload = object.metadata.uid;
  };

  const isExpired = (object: Change["object"]): boolean =>
    final.has(facts.phase) && numberAt(object, "spec", "timeToLiveSeconds") !== undefined;

  const isOfSubject = (change: Change): boolean => {
    const { type, table, object, before } = change;
    if (table === checkpoints) return isKept(object);
    if (table === apps && type === "DELETED") return isSubject(object) && isExpired(object);
    if (table === apps) return isSubject(object) && type === "MODIFIED" && isSameButStatus(change);
    if (table === "events") return type === "ADDED" && textAt(object, "involvedObject", "uid") === facts.uid;
    if (!accompanying.has(table)) return isIncidental(change);
    return isOwned(before ?? object);
  };

  const permitted = (change: Change): boolean => (subject.queued === true && isOfQueue(change)) || isOfSubject(change);

  return {
    hear: (change, actor, now) => {
      const { table, object, type } = change;
      checkStrays(now);
      hearMachines(facts, change, now);
      checkSettled(facts, subject.demand, { actor, table, now }, blame);
      checkClaims(facts, change, { now, demand: subject.demand }, blame);
      if (actor === "engine" && subject.together !== true && !permitted(change))
        blame(`I5: ${type} ${table}/${object.metadata.name} was not ours to do`);
      if (table === apps && isSubject(object)) hearApp(change, now);
      if (table === checkpoints && isRecord(object)) hearRecord(change, actor, now);
      hearWorkload(change);
      if (table === "pods") hearPod(change, actor, now);
      if (table === "events" && actor === "engine") checkSecret(textOf(object), "an event");
    },
    permits: permitted,
    said: checkSecret,
    lost: (resyncAt) => {
      facts.resyncAt = resyncAt;
    },
    behind: (path, revisions, now) => {
      if (!path.endsWith(`/sparkapplications/${subject.name}`) || revisions < farBehind) return;
      Object.assign(facts, { behindAt: now, behindSaves: savesBehind });
    },
    end: (objects, now) => {
      const app = objects.find(({ table, object }) => table === apps && isSubject(object))?.object;
      if (app === undefined) {
        const left = objects.filter(
          ({ table, object }) =>
            isOwned(object) || namesOf(object, facts.uid) || (table === checkpoints && isRecord(object)),
        );
        for (const { table, object } of left) blame(`I7: ${table}/${object.metadata.name} is left`);
        return;
      }
      checkCount(facts, app, blame);
      checkLeft(objects, blame);
      const executions = numberAt(app, "status", "executionAttempts") ?? 0;
      const firsts = facts.born.filter((one) => one.app === facts.uid && bodies(one.attempt)[0] === one);
      const made = firsts.filter(({ at: time, stray }) => time >= facts.specChangedAt && !stray).length + facts.adopted;
      if (final.has(facts.phase) && executions !== made)
        blame(`I3: ${executions} execution(s) told, ${made} attempt(s) made`);
      const times = [
        textAt(app, "metadata", "creationTimestamp"),
        textAt(app, "status", "lastSubmissionAttemptTime"),
        textAt(app, "status", "terminationTime"),
      ].flatMap((text) => (text === undefined ? [] : [Date.parse(text)]));
      const ordered = [...times, now].every((time, index, all) => index === 0 || time >= (all[index - 1] ?? 0));
      if (!ordered) blame("I4: the times of the status are out of order");
    },
    violations: () => facts.violations,
    faultless: () => leftBehind(facts),
    phase: () => facts.phase,
    uid: () => facts.uid,
    copy: () => openOracle(subject, forked(facts)),
  };
};
