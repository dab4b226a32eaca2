/**
 * The invariants of flows and CronJobs, which create jobs, judged from objects alone; each of their jobs is also
 * judged as any job is.
 *
 * M1. A job of a name comes once, owned by its maker. One that a user deleted before it was complete may come again.
 * M2. Nothing is created for a deleted maker, except for writes under way.
 * M3. Steps write only the maker's own objects and those of its jobs. A job is ended for a reason of its maker's.
 */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { at, ownersOf, textAt } from "../fields.ts";
import { forked } from "../forked.ts";
import { isCounted } from "../objects.ts";
import type { Oracle, Subject } from "../oracle.ts";
import { openJobOracle } from "./judge.ts";

export type Item = Change["object"];
type Blame = (what: string) => void;

export const jobs = "jobs.batch.volcano.sh";

/** A job, and whether it is gone. */
export type Child = { readonly name: string; readonly uid: string; object: Item; gone: boolean };

export type Facts = {
  violations: string[];
  object: Item | undefined;
  uid: string | undefined;
  phase: string;
  /** Instant since which nothing may be created: the maker is gone or suspended. */
  stoppedAt: number | undefined;
  /** By UID, in the order of their coming. */
  children: Map<string, Child>;
  /** Signs that its jobs have ever shown, in the words of each maker. */
  signs: Set<string>;
  /** Names of jobs that a user took away before they were complete. */
  freed: Set<string>;
  /** The end of everything has been ordered. */
  ordered: boolean;
};

/** The rules of a kind of makers. Each lists its violations. */
export type Rules = {
  readonly kind: string;
  readonly table: string;
  /** Further tables that a step of such a maker may change. */
  readonly touches?: readonly string[];
  readonly phaseOf: (maker: Item) => string;
  readonly isStopped: (maker: Item) => boolean;
  readonly moves: (before: string, after: string) => boolean;
  readonly born: (facts: Facts, child: Child, now: number) => readonly string[];
  /** Whether a step may end this job. */
  readonly mayEnd: (facts: Facts, child: Child) => boolean;
  /** Whether a job that a step has ended comes again; absent: none does. */
  readonly again?: (child: Child) => boolean;
  /** The signs of a job that a later check may ask for. */
  readonly signs: (job: Item) => readonly string[];
  readonly rest: (facts: Facts) => readonly string[];
};

/** The sign of a maker that was suspended for a while. */
export const resumed = "resumed";

const longestArrivalMs = 16_000;

export const jobPhase = (job: Item): string => textAt(job, "status", "state", "phase") ?? "";

export const isOver = (job: Item): boolean => ["Completed", "Failed", "Terminated"].includes(jobPhase(job));

export const fresh = (): Facts => ({
  violations: [],
  object: undefined,
  uid: undefined,
  phase: "",
  stoppedAt: undefined,
  children: new Map(),
  signs: new Set(),
  freed: new Set(),
  ordered: false,
});

type Runs = Map<string, Oracle>;

type Court = {
  readonly rules: Rules;
  readonly subject: Subject;
  readonly facts: Facts;
  readonly runs: Runs;
  readonly blame: Blame;
};

const isSubject = ({ rules, subject }: Court, { table, object }: Change): boolean =>
  table === rules.table && object.metadata.name === subject.name;

const isOwned = ({ facts }: Court, object: Item): boolean =>
  facts.uid !== undefined && ownersOf(object).includes(facts.uid);

const hearMaker = ({ rules, facts, blame }: Court, { type, object }: Change, now: number): void => {
  const phase = rules.phaseOf(object);
  if (!rules.moves(facts.phase, phase)) blame(`M: ${facts.phase || "nothing"} became ${phase || "nothing"}`);
  const stopped = facts.ordered || type === "DELETED" || rules.isStopped(object);
  const stoppedAt = stopped ? (facts.stoppedAt ?? now) : undefined;
  if (facts.stoppedAt !== undefined && !stopped) facts.signs.add(resumed);
  Object.assign(facts, { object, uid: object.metadata.uid, phase, stoppedAt });
};

/** M1, M2. */
const hearBirth = ({ rules, facts, runs, subject, blame }: Court, { object }: Change, now: number): void => {
  const { name, uid } = object.metadata;
  const same = [...facts.children.values()].some((child) => child.name === name);
  if (same && !facts.freed.has(name)) blame(`M1: job ${name} comes a second time`);
  facts.freed.delete(name);
  if (facts.stoppedAt !== undefined && now - facts.stoppedAt > longestArrivalMs)
    blame(`M2: job ${name} comes ${now - facts.stoppedAt} ms after its maker was stopped`);
  const child: Child = { name, uid, object, gone: false };
  for (const wrong of rules.born(facts, child, now)) blame(wrong);
  facts.children.set(uid, child);
  runs.set(uid, openJobOracle({ ...subject, name, together: true }));
};

const hearJob = (court: Court, change: Change, actor: string, now: number): void => {
  const { facts, rules, blame } = court;
  const { type, object } = change;
  if (type === "ADDED" && isOwned(court, object)) hearBirth(court, change, now);
  const child = facts.children.get(object.metadata.uid);
  if (child === undefined) return;
  if (type === "DELETED") {
    if (actor === "engine" && !facts.ordered && !rules.mayEnd(facts, child))
      blame(`M3: job ${child.name} is ended without a reason`);
    const isFreed = actor === "user" ? jobPhase(child.object) !== "Completed" : rules.again?.(child) === true;
    if (isFreed) facts.freed.add(child.name);
    child.gone = true;
    return;
  }
  child.object = object;
  for (const sign of rules.signs(object)) facts.signs.add(sign);
};

/** After an order to end everything, nothing may be created. */
const hearRecord = ({ facts }: Court, { object }: Change, now: number): void => {
  if (at(object, "spec", "cleanup") === undefined) return;
  facts.ordered = true;
  facts.stoppedAt ??= now;
};

/** True for the records of templates, which flows are made from. */
const isOfTemplate = ({ metadata }: Item): boolean => metadata.name.startsWith("jobtemplate.");

/** True for an object of a probe of the cluster's gangs: it belongs to the group for whose namespace it was made. */
const isOfProbe = ({ table, object: { metadata } }: Change): boolean =>
  ["pods", "podgroups.scheduling.k8s.io"].includes(table) &&
  metadata.name.startsWith("rekindle-probe-") &&
  (metadata.ownerReferences ?? []).some(
    ({ apiVersion, kind, uid }) =>
      apiVersion === "scheduling.volcano.sh/v1beta1" &&
      kind === "PodGroup" &&
      metadata.name === `rekindle-probe-${uid}`,
  );

/** True for a change by a queue's step, which may come before the first job. */
const isOfQueue = (change: Change): boolean => isOfProbe(change) || isOfRound(change);

/** True for the Event at a group that waits, as Volcano's scheduler writes it. */
const isOfWaitingGroup = (event: Item): boolean =>
  textAt(event, "involvedObject", "kind") === "PodGroup" && textAt(event, "reason") === "Unschedulable";

const isOfRound = ({ type, table, object }: Change): boolean =>
  (table === "checkpoints.rekindle.dev" && object.metadata.name.startsWith("queue.")) ||
  (table === "queues.scheduling.volcano.sh" && type === "MODIFIED") ||
  (table === "events" && textAt(object, "involvedObject", "kind") === "Queue") ||
  (table === "events" && isOfWaitingGroup(object)) ||
  (table === "events" && ["Evicted", "RoomByEviction"].includes(textAt(object, "reason") ?? ""));

/** M3. */
const permitted = (court: Court, change: Change): boolean => {
  const { rules, subject, facts, runs } = court;
  const { type, table, object } = change;
  if (table === jobs && type !== "MODIFIED") return isOwned(court, object);
  if (isSubject(court, change) || rules.touches?.includes(table) === true) return type === "MODIFIED";
  const ownRecord = `${rules.kind.toLowerCase()}.${subject.name}`;
  const isKept = [ownRecord, `updates.${ownRecord}`].includes(object.metadata.name) || isOfTemplate(object);
  if (table === "checkpoints.rekindle.dev" && isKept) return true;
  if (table === "events" && textAt(object, "involvedObject", "uid") === facts.uid) return true;
  if (isOfQueue(change)) return true;
  return [...runs.values()].some((run) => run.permits(change));
};

const openWith = (rules: Rules, subject: Subject, facts: Facts, runs: Runs): Oracle => {
  const blame = (what: string): void => {
    if (!facts.violations.includes(what)) facts.violations.push(what);
  };
  const court: Court = { rules, subject, facts, runs, blame };
  return {
    hear: (change, actor, now) => {
      if (isSubject(court, change)) hearMaker(court, change, now);
      if (change.table === jobs) hearJob(court, change, actor, now);
      if (change.object.metadata.name === `${rules.kind.toLowerCase()}.${subject.name}`) hearRecord(court, change, now);
      for (const run of runs.values()) run.hear(change, actor, now);
      if (actor === "engine" && !isCounted(change) && !permitted(court, change))
        blame(`M3: ${change.type} ${change.table}/${change.object.metadata.name} was not ours to do`);
    },
    permits: (change) => permitted(court, change),
    said: (text, where) => {
      if (subject.canaries.some((canary) => text.includes(canary))) blame(`I8: a secret stands in ${where}`);
    },
    end: (objects, now) => {
      for (const wrong of rules.rest(facts)) blame(wrong);
      for (const run of runs.values()) run.end(objects, now);
    },
    violations: () => [
      ...facts.violations,
      ...[...runs].flatMap(([uid, run]) => run.violations().map((what) => `${facts.children.get(uid)?.name}: ${what}`)),
    ],
    phase: () => facts.phase,
    uid: () => facts.uid,
    copy: () => openWith(rules, subject, forked(facts), new Map([...runs].map(([uid, run]) => [uid, run.copy()]))),
  };
};

export const openMakerOracle = (rules: Rules, subject: Subject): Oracle => openWith(rules, subject, fresh(), new Map());
