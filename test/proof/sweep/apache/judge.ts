/**
 * The invariants of an application of `spark.apache.org`, judged from objects alone. H1–H4, of its history: `histories.ts`; D8 and
 * D9, of executors that Rekindle creates: `executor-judge.ts`.
 *
 * D1. At most one driver lives; an attempt has one body, unless the first was lost before a state of it was saved; none comes without a saved plan of its attempt, later than 16 s
 *     after the save, later than 16 s after the deletion of the application, or for one whose status shows an end. One that comes
 *     when the application is gone may be the second of its attempt: it has no owner, so the garbage collector deletes it (D5).
 * D2. No driver and no executor of an earlier attempt lives when the next driver comes, and no more attempts are made than allowed.
 * D3. A state that ends an attempt says how its driver ended: none ends while its driver runs, but by a timeout.
 * D4. Steps write only objects that the application owns; of the application itself its status alone, and its end.
 * D5. Where objects are said to be released none is left, where they are said to be kept the driver is there; nothing is
 *     left of an application that is gone.
 * D7. An Event whose reason is a state tells of a state of the history, as long as the application is there.
 * D10. An eviction by Kueue, and the loss of the places of a group, spend no restart.
 * D6. No secret in a status, an event, a record, a message or a line; a record is readable and small.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { textOf } from "../../../../shared/simulator/verbs/read.ts";
import { at, namesOf, numberAt, ownersOf, roleOf, textAt } from "../fields.ts";
import { forked } from "../forked.ts";
import { isDelivery, isOfQueue, isOver, isSameButStatus } from "../objects.ts";
import type { Actor, Oracle, Subject } from "../oracle.ts";
import { checkExecutor, checkExecutors, executorIn } from "./executor-judge.ts";
import { type Driver, type Entry, type Facts, fresh } from "./facts.ts";
import { checkStatus, hearHistory, isKept, isReleased, isState, leastWaitMs, scheduledAt } from "./histories.ts";

type Item = Change["object"];
type Blame = (what: string) => void;

const apps = "sparkapplications.spark.apache.org";
const checkpoints = "checkpoints.rekindle.dev";
const kind = "ApacheSparkApplication";
const upstreamFinalizer = "sparkapplications.spark.apache.org/finalizer";
const longestArrivalMs = 16_000;
/** Tables of the objects of an attempt. */
const accompanying: ReadonlySet<string> = new Set([
  ...["pods", "services", "configmaps", "persistentvolumeclaims"],
  ...["ingresses.networking.k8s.io", "networkpolicies.networking.k8s.io"],
  ...["podgroups.scheduling.volcano.sh", "workloads.kueue.x-k8s.io"],
]);

const finalizersOf = ({ metadata }: Item): readonly string[] => metadata.finalizers ?? [];

/** True where an application under deletion lost the finalizer of upstream, and nothing else. */
const isLetGo = ({ object, before }: Change): boolean => {
  const others = finalizersOf(before ?? object).filter((name) => name !== upstreamFinalizer);
  return before?.metadata.deletionTimestamp !== undefined && others.join() === finalizersOf(object).join();
};

/** The newest state that a record or a status has shown. */
const newestIn = ({ history }: Facts): string => history.get(Math.max(0, ...history.keys()))?.summary ?? "";

/** How the main container of a driver ended, or its pod where no container has a status. */
const endOf = (pod: Item): Driver["end"] => {
  if (!isOver(pod)) return undefined;
  if (textAt(pod, "status", "reason") === "Evicted") return "evicted";
  const statuses = at(pod, "status", "containerStatuses");
  const code = Array.isArray(statuses) ? numberAt(statuses[0], "state", "terminated", "exitCode") : undefined;
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  return (code ?? (textAt(pod, "status", "phase") === "Succeeded" ? 0 : 1)) === 0 && !isDeleted ? "well" : "badly";
};

/** D3, for a state that a record or a status shows for the first time. */
const checkEnd = (facts: Facts, { summary }: Entry, blame: Blame): void => {
  const driver = [...facts.drivers.values()].findLast(({ attempt }) => attempt === facts.attempt);
  const end = driver?.end;
  if (summary === "Succeeded" && end !== "well") blame(`D3: Succeeded, and the driver ended ${end ?? "not"}`);
  if (summary === "DriverEvicted" && end !== "evicted") blame(`D3: evicted, and the driver ended ${end ?? "not"}`);
  if (summary === "Failed" && driver?.live === true && !driver.leaving) blame("D3: Failed, and the driver runs");
  if (summary === "Failed" && end === "well") blame("D3: Failed, and the driver ended well");
  if (summary === "SchedulingFailure" && driver?.live === true) blame("D3: SchedulingFailure beside a driver");
};

const hearApp = (facts: Facts, { type, object }: Change, now: number, blame: Blame): void => {
  const { uid, deletionTimestamp } = object.metadata;
  if (type === "DELETED") {
    if (uid !== facts.uid) return;
    facts.gone = true;
    facts.deletingAt ??= now;
    return;
  }
  if (facts.uid !== uid) Object.assign(facts, { ...fresh(), violations: facts.violations, uid });
  if (deletionTimestamp !== undefined) facts.deletingAt ??= now;
  facts.tolerations = at(object, "spec", "applicationTolerations");
  facts.conf = at(object, "spec", "sparkConf");
  const status = object["status"];
  facts.phase = textAt(status, "currentState", "currentStateSummary") ?? "";
  for (const entry of hearHistory(facts, status, blame)) checkEnd(facts, entry, blame);
  if (at(status, "stateTransitionHistory") !== undefined) checkStatus(status, blame);
  const attempt = at(status, "currentAttemptSummary", "attemptInfo");
  const [id = 0, restarts = 0] = [numberAt(attempt, "id"), numberAt(attempt, "restartCounter")];
  if (restarts > id - facts.requeues)
    blame(`D10: attempt ${id} is restart ${restarts} after ${facts.requeues} evictions`);
};

const isEvicted = (workload: Item | undefined): boolean => {
  const conditions = at(workload, "status", "conditions");
  return Array.isArray(conditions) && conditions.some(({ type, status }) => type === "Evicted" && status === "True");
};

/** True where Kueue evicts a Workload. */
const isEviction = ({ type, table, object, before }: Change): boolean =>
  table === "workloads.kueue.x-k8s.io" && type === "MODIFIED" && isEvicted(object) && !isEvicted(before);

/** True where a group loses its places. */
const isTakenBack = ({ table, object, before }: Change): boolean =>
  table === "podgroups.scheduling.volcano.sh" &&
  textAt(object, "status", "phase") === "Pending" &&
  !["", "Pending"].includes((before && textAt(before, "status", "phase")) ?? "");

const losesRoom = (change: Change): boolean => isEviction(change) || isTakenBack(change);

const hearStates = (facts: Facts, status: unknown, attempt: number, blame: Blame): void => {
  const fromHistory = hearHistory(facts, status, blame);
  if (facts.recorded && attempt < facts.attempt) blame(`D2: attempt ${facts.attempt} became ${attempt}`);
  for (const entry of fromHistory) checkEnd(facts, entry, blame);
};

const hearRecord = (facts: Facts, { type, object }: Change, now: number, blame: Blame): void => {
  const spec = object["spec"];
  if (type === "DELETED") {
    facts.recorded = false;
    return;
  }
  if (textAt(spec, "uid") !== facts.uid) return;
  const memory = at(spec, "memory");
  if (numberAt(spec, "schema") !== 1 || memory === undefined) blame("D6: a record cannot be read");
  if (textOf(object).length > 65_536) blame("D6: a record is larger than 64 KiB");
  const status = at(memory, "status");
  const attempt = numberAt(status, "currentAttemptSummary", "attemptInfo", "id") ?? 0;
  // Nobody sees the history of an application that is gone, and a step that began before may make its record anew.
  if (!facts.gone) hearStates(facts, status, attempt, blame);
  const plannedAt = numberAt(memory, "plannedAt");
  if (plannedAt !== facts.plannedAt) facts.plannedSeenAt = now;
  Object.assign(facts, { recorded: true, attempt, plannedAt });
};

/** D7. Reasons of other Events have no row in the table of states. */
const checkTold = ({ history, uid, gone }: Facts, event: Item, blame: Blame): void => {
  const reason = textAt(event, "reason") ?? "";
  if (gone || textAt(event, "involvedObject", "uid") !== uid || !isState(reason)) return;
  if (![...history.values()].some(({ summary }) => summary === reason))
    blame(`D7: ${reason} is told, and was no state`);
};

/** D2 and H3: the restarts allow this attempt, and now. */
const checkRestart = (facts: Facts, attempt: number, now: number, blame: Blame): void => {
  const restart = at(facts.tolerations, "restartConfig");
  const policy = textAt(restart, "restartPolicy") ?? "Never";
  const most = policy === "Never" ? 0 : (numberAt(restart, "maxRestartAttempts") ?? 3);
  if (attempt > most + facts.requeues) blame(`D2: attempt ${attempt} is more than the restarts allow`);
  const since = scheduledAt(facts);
  if (since !== undefined && now - since < leastWaitMs(facts))
    blame(`H3: attempt ${attempt} comes ${now - since} ms after it was scheduled`);
};

/** D1 and D2, for a driver that a step has created. */
const checkBorn = (facts: Facts, attempt: number, now: number, blame: Blame): void => {
  const drivers = [...facts.drivers.values()];
  const newest = newestIn(facts);
  const planned = now - facts.plannedSeenAt;
  if (drivers.some(({ live }) => live)) blame(`D1: a second driver lives (attempt ${attempt})`);
  const { gone, deletingAt = now } = facts;
  const isRecorded = (facts.recorded || gone) && attempt === facts.attempt;
  if (!isRecorded) blame(`D1: the driver of attempt ${attempt} stands in no record`);
  if (planned > longestArrivalMs) blame(`D1: a driver comes ${planned} ms after its plan`);
  if (now - deletingAt > longestArrivalMs) blame(`D1: a driver comes ${now - deletingAt} ms after the deletion`);
  if (attempt > 0) checkRestart(facts, attempt, now, blame);
  if (gone) return;
  const isNews = newest !== "Submitted" && newest !== "ScheduledToRestart";
  if (isNews && drivers.some((one) => one.attempt === attempt)) blame(`D1: attempt ${attempt} got a second body`);
  if (isReleased(newest) || isKept(newest)) blame(`D1: a driver comes in ${newest}`);
  if ([...facts.executors.values()].some(({ live }) => live)) blame(`D2: executors live when attempt ${attempt} comes`);
};

const hearPod = (facts: Facts, { type, object }: Change, actor: Actor, now: number, blame: Blame): void => {
  const { uid, labels, deletionTimestamp } = object.metadata;
  const owners = ownersOf(object);
  const isLive = type !== "DELETED" && !isOver(object);
  if (roleOf(object) === "driver" && facts.uid !== undefined && owners.includes(facts.uid)) {
    const attempt = Number(labels?.["rekindle.dev/attempt"] ?? 0);
    const known = facts.drivers.get(uid);
    if (known === undefined && actor === "engine") checkBorn(facts, attempt, now, blame);
    const end = endOf(object) ?? known?.end;
    const leaving = known?.leaving === true || deletionTimestamp !== undefined;
    facts.drivers.set(uid, { attempt: known?.attempt ?? attempt, live: isLive, end, leaving });
  }
  // The garbage collector takes the reference to a driver that is gone out of an executor with another owner.
  const driver = owners.find((owner) => facts.drivers.has(owner)) ?? facts.executors.get(uid)?.driver;
  if (roleOf(object) !== "executor" || driver === undefined) return;
  if (actor === "engine" && !facts.executors.has(uid)) checkExecutor(facts, object, blame);
  facts.executors.set(uid, executorIn(object, driver, isLive));
};

const isOwned = (facts: Facts, object: Item): boolean =>
  ownersOf(object).some((owner) => owner === facts.uid || facts.drivers.has(owner));

export const openApacheOracle = (subject: Subject, facts: Facts = fresh()): Oracle => {
  const blame = (what: string): void => {
    if (!facts.violations.includes(what)) facts.violations.push(what);
  };
  const isSubject = ({ metadata }: Item): boolean =>
    metadata.namespace === subject.namespace && metadata.name === subject.name;
  const isRecord = ({ metadata }: Item): boolean =>
    metadata.namespace === subject.namespace && metadata.name === `${kind.toLowerCase()}.${subject.name}`;
  const checkSecret = (text: string, where: string): void => {
    if (subject.canaries.some((canary) => text.includes(canary))) blame(`D6: a secret stands in ${where}`);
  };

  /** H3 and D4: a step deletes an application after its time to live, or lets one go that a user deletes. */
  const mayGo = (change: Change): boolean => {
    const { before, object } = change;
    if ((before ?? object).metadata.deletionTimestamp !== undefined) return isLetGo(change);
    return (numberAt(facts.tolerations, "ttlAfterStopMillis") ?? -1) >= 0 && isReleased(newestIn(facts));
  };

  const isOfSubject = (change: Change): boolean => {
    const { type, table, object, before } = change;
    if (table === checkpoints) return isRecord(object) || isDelivery(object, { ...subject, kind });
    if (table === apps) {
      if (!isSubject(object)) return false;
      return (type === "MODIFIED" && isSameButStatus(change)) || mayGo(change);
    }
    if (table === "events") return type === "ADDED" && textAt(object, "involvedObject", "uid") === facts.uid;
    return accompanying.has(table) && isOwned(facts, before ?? object);
  };

  const permitted = (change: Change): boolean => (subject.queued === true && isOfQueue(change)) || isOfSubject(change);

  const checkOutput = ({ table, object }: Change): void => {
    if (table === apps) checkSecret(JSON.stringify(object["status"]) ?? "", "a status");
    if (table === "events" || table === checkpoints) checkSecret(textOf(object), table);
    if (table === "events") checkTold(facts, object, blame);
  };

  return {
    hear: (change, actor, now) => {
      const { type, table, object } = change;
      if (actor === "engine" && !permitted(change))
        blame(`D4: ${type} ${table}/${object.metadata.name} was not ours to do`);
      if (actor === "engine") checkOutput(change);
      if (table === apps && isSubject(object)) hearApp(facts, change, now, blame);
      if (table === checkpoints && isRecord(object)) hearRecord(facts, change, now, blame);
      if (table === "pods") hearPod(facts, change, actor, now, blame);
      if (losesRoom(change)) facts.evictions += 1;
    },
    permits: permitted,
    said: checkSecret,
    end: (objects) => {
      const isGone = !objects.some(({ table, object }) => table === apps && isSubject(object));
      const left = objects.filter(
        ({ table, object }) =>
          (accompanying.has(table) && (isOwned(facts, object) || namesOf(object, facts.uid))) ||
          (isGone && table === checkpoints && isRecord(object)),
      );
      if (isGone || isReleased(facts.phase))
        for (const { table, object } of left) blame(`D5: ${table}/${object.metadata.name} is left`);
      const drivers = left.filter(({ table, object }) => table === "pods" && roleOf(object) === "driver");
      if (!isGone) checkExecutors(facts, blame);
      if (!isGone && isKept(facts.phase) && drivers.length !== 1) blame(`D5: ${drivers.length} drivers are kept`);
    },
    violations: () => facts.violations,
    phase: () => facts.phase,
    uid: () => facts.uid,
    copy: () => openApacheOracle(subject, forked(facts)),
  };
};
