/**
 * The invariants of a schedule and of its runs, judged from objects alone. Each run is also judged as any
 * SparkApplication is.
 *
 * S1. One run per time: no name of a run comes twice, and each is owned by the schedule.
 * S2. Times follow each other without a gap, as long as the schedule is not suspended.
 * S3. A schedule that is suspended, gone or ordered to end starts nothing, except for writes under way.
 * S4. No unfinished run is ended, unless the policy is Replace or everything is ordered to end: then none is left.
 */
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { at, ownersOf, textAt } from "./fields.ts";
import { forked } from "./forked.ts";
import { isCounted, isDelivery } from "./objects.ts";
import { type Oracle, openOracle, type Subject } from "./oracle.ts";

const apps = "sparkapplications.sparkoperator.k8s.io";
const schedules = "scheduledsparkapplications.sparkoperator.k8s.io";
const label = "sparkoperator.k8s.io/scheduled-app-name";
const longestArrivalMs = 16_000;
/** Interval of the scenarios' schedules. */
const periodSeconds = 720;

type Facts = {
  violations: string[];
  uid: string | undefined;
  phase: string;
  replaces: boolean;
  /** A record holds an order to end everything. */
  ordered: boolean;
  /** Instant since which nothing may be started. */
  stoppedAt: number | undefined;
  /** Names of all runs that ever came, in order. */
  names: string[];
};

const fresh = (): Facts => ({
  violations: [],
  uid: undefined,
  phase: "",
  replaces: false,
  ordered: false,
  stoppedAt: undefined,
  names: [],
});

const secondsOf = (name: string): number => Number(/-(\d{10})\d*$/.exec(name)?.[1] ?? Number.NaN);

const isOver = (object: unknown): boolean =>
  ["COMPLETED", "FAILED"].includes(textAt(object, "status", "applicationState", "state") ?? "");

type Runs = Map<string, Oracle>;

export const openScheduleOracle = (subject: Subject, facts: Facts = fresh(), runs: Runs = new Map()): Oracle => {
  const blame = (what: string): void => {
    if (!facts.violations.includes(what)) facts.violations.push(what);
  };
  const isOurs = ({ object }: Change): boolean => facts.uid !== undefined && ownersOf(object).includes(facts.uid);
  const isSubject = ({ table, object }: Change): boolean =>
    table === schedules && object.metadata.name === subject.name;
  const isRecord = ({ table, object }: Change): boolean =>
    table === "checkpoints.rekindle.dev" && object.metadata.name === `scheduledsparkapplication.${subject.name}`;
  const isKept = (change: Change): boolean =>
    isRecord(change) || isDelivery(change.object, { ...subject, kind: "ScheduledSparkApplication" });

  const hearSchedule = ({ type, object }: Change, now: number): void => {
    facts.uid = object.metadata.uid;
    facts.phase = textAt(object, "status", "scheduleState") ?? "";
    facts.replaces = textAt(object, "spec", "concurrencyPolicy") === "Replace";
    const { suspend } = Object(object["spec"]);
    const stopped = facts.ordered || type === "DELETED" || suspend === true;
    facts.stoppedAt = stopped ? (facts.stoppedAt ?? now) : undefined;
  };

  const hearRecord = ({ object }: Change, now: number): void => {
    if (at(object, "spec", "cleanup") === undefined) return;
    facts.ordered = true;
    facts.stoppedAt ??= now;
  };

  const hearRun = (change: Change, now: number): void => {
    const { type, object } = change;
    const { name } = object.metadata;
    if (type !== "ADDED" || object.metadata.labels?.[label] !== subject.name) return;
    if (!isOurs(change)) blame(`S1: run ${name} is not owned by the schedule`);
    if (facts.names.includes(name)) blame(`S1: run ${name} came a second time`);
    if (facts.stoppedAt !== undefined && now - facts.stoppedAt > longestArrivalMs)
      blame(`S3: run ${name} came ${now - facts.stoppedAt} ms after the schedule was stopped`);
    facts.names.push(name);
    runs.set(name, openOracle({ ...subject, name, together: true }));
  };

  const ended = ({ object, before }: Change): boolean => facts.replaces || facts.ordered || isOver(before ?? object);

  const permitted = (change: Change): boolean => {
    const { type, table, object } = change;
    if (table === apps && type === "ADDED") return isOurs(change);
    if (table === apps && type === "DELETED") return isOurs(change) && ended(change);
    if (isSubject(change)) return type === "MODIFIED";
    if (isKept(change)) return true;
    if (table === "events" && textAt(object, "involvedObject", "uid") === facts.uid) return true;
    return [...runs.values()].some((run) => run.permits(change));
  };

  const gapless = (): void => {
    const times = facts.names.map(secondsOf);
    const gaps = times.filter((time, index) => index > 0 && time - (times[index - 1] ?? 0) !== periodSeconds);
    if (gaps.length > 0) blame(`S2: the runs' times are ${times.join(", ")}`);
    if (times.length < (facts.ordered ? 1 : 2)) blame(`S2: ${times.length} run(s) came`);
  };

  return {
    hear: (change, actor, now) => {
      if (isSubject(change)) hearSchedule(change, now);
      if (isRecord(change)) hearRecord(change, now);
      if (change.table === apps) hearRun(change, now);
      for (const run of runs.values()) run.hear(change, actor, now);
      if (actor === "engine" && !isCounted(change) && !permitted(change))
        blame(`I5: ${change.type} ${change.table}/${change.object.metadata.name} was not ours to do`);
    },
    permits: permitted,
    said: (text, where) => {
      for (const run of runs.values()) run.said(text, where);
    },
    end: (objects, now) => {
      gapless();
      const left = objects.filter(({ table, object }) => table === apps && facts.names.includes(object.metadata.name));
      if (facts.ordered)
        for (const { object } of left) if (!isOver(object)) blame(`S4: run ${object.metadata.name} is left`);
      for (const run of runs.values()) run.end(objects, now);
    },
    violations: () => [
      ...facts.violations,
      ...[...runs].flatMap(([name, run]) => run.violations().map((what) => `${name}: ${what}`)),
    ],
    phase: () => facts.phase,
    uid: () => facts.uid,
    copy: () => openScheduleOracle(subject, forked(facts), new Map([...runs].map(([name, run]) => [name, run.copy()]))),
  };
};
