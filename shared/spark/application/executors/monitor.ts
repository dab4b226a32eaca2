/**
 * Monitors the executors of a run whose driver runs: which live, which were lost and why, what to repair and to
 * delete, and trouble of the run as a whole. The same for `own` and `assist`. At the end of the run, when its driver
 * ends or its user interrupts it, the same account is closed.
 */
import { all, list, type Reads } from "../../../core/decision.ts";
import { attemptLabel, type Stored } from "../../../core/object.ts";
import { type Effect, soonest } from "../../../core/plan.ts";
import { instantOf } from "../../../core/time.ts";
import type { WaitingOn } from "../../../core/waiting-on.ts";
import { isEnding, labelOf, podStatus, terminationOf } from "../../../kube/pods.ts";
import { pods as podResource } from "../../../kube/resources.ts";
import type { Member } from "../../executors/allotment.ts";
import { nextQuestion, type Pulse, pulseAfter, type Registered, runningAmong } from "../../executors/driver-api.ts";
import { endedBefore } from "../../executors/final-account.ts";
import { hasId, idsOf } from "../../executors/ids.ts";
import {
  account,
  afterDriversEnd,
  type Care,
  freshLedger,
  type Ledger,
  type Loss,
  mostReported,
  stillDoomed,
  worthReporting,
} from "../../executors/ledger.ts";
import { type Lifetime, lifetimeOf, withLifetimes } from "../../executors/lifetimes.ts";
import { endingOf, executorId } from "../../executors/losses.ts";
import {
  type Evidence,
  effectsOfEndings,
  mostDeletions,
  nodesOf,
  type Repair,
  repairExecutors,
  terminationsOf,
} from "../../executors/repair.ts";
import { type ApplicationContext, executorsAgain, removal } from "../run/context.ts";
import { asksDeletion, uselessNow } from "../run/executor-retention.ts";
import type { End } from "../run/plan.ts";
import { spans } from "../spec/policies.ts";
import { driverContainer, endOf, evidenceOf, type Pods } from "../state/evidence.ts";
import { acts } from "../state/machine.ts";
import { type Driver, isOwnRun, type Memory } from "../state/memory.ts";
import { askDriver, unchangedSince } from "./lookup.ts";
import { drainNodes, type NodeDrain } from "./node-drain.ts";
import { lossEvents, type Trouble, troubleEvent, troubleOf, unreportedIn, withEnds } from "./warnings.ts";

export type ExecutorReport = {
  readonly memory: Memory;
  /** The executors that this step's reads show, also where its list lacked one. */
  readonly seen: readonly Stored[];
  /** In own runs, losses of earlier reads: recorded as events before the save that forgets them. */
  readonly left: readonly Effect[];
  /** Cordons of nodes that are about to go, before any executor on them is ended. */
  readonly cordons: readonly Effect[];
  /** Events before the save: a death in between only records them again. */
  readonly first: readonly Effect[];
  readonly effects: readonly Effect[];
  /** Deletions of ended pods that are not kept: they may wait for a step with nothing urgent. */
  readonly spent: readonly Effect[];
  /** Events after all effects; the next step records them again, because this one may die. */
  readonly events: readonly Effect[];
  /** Ids of losses that a step which records no events leaves for the next. */
  readonly untold: readonly number[];
  readonly wakeAt?: number;
  readonly pollMs?: number;
  /** Trouble of the run, for the status of what it waits for. */
  readonly waitsFor?: WaitingOn;
  /** The end of the run, as its annotations ask. */
  readonly end?: End;
};

const ledgerOf = ({ memory: { executors } }: ApplicationContext, { attempt }: Driver): Ledger =>
  executors?.attempt === attempt ? executors : freshLedger(attempt);

/**
 * Lists again when an executor is missing from the first list, before it is called lost. A watch that is not behind what the
 * ledger rests on has shown its deletion.
 */
function* everyone(context: ApplicationContext, driver: Driver, found: Pods, ledger: Ledger): Reads<readonly Stored[]> {
  const { view, kind } = context;
  const first = account(ledger, { pods: found.executors, now: view.now, certain: false });
  if (first.missing.length === 0) return found.executors;
  const again = yield* list(executorsAgain(context));
  const listed = new Set(found.all.map(({ metadata }) => metadata.uid));
  const both = [...found.all, ...again.filter(({ metadata }) => !listed.has(metadata.uid))];
  return kind.sorted({ ...context, memory: { ...context.memory, driver } }, both).executors;
}

type DriverWord = { readonly queried: false } | { readonly queried: true; readonly registered: Registered | undefined };

const mute: readonly (readonly [conf: string, value: string])[] = [
  ["spark.ui.enabled", "false"],
  ["spark.ui.port", "0"],
];

const times = [spans.registrationMs, spans.stallMs, spans.silenceMs].map(({ annotation }) => annotation);

/** Poll interval, ms, while no event comes: the user set times, or a node is about to go or cannot be read. */
const againMs = 15_000;

/** True when the user set a time: it is then kept by a timer, and not by a resync. */
const isTimed = ({ object }: ApplicationContext): boolean =>
  times.some((annotation) => object.metadata.annotations?.[annotation] !== undefined);

const mayAsk = ({ read }: ApplicationContext, { applicationId }: Driver): boolean =>
  read.ok &&
  applicationId !== undefined &&
  !mute.some(([conf, value]) => read.spec.sparkConf?.[conf]?.trim() === value);

/** The driver's answer, when it is due. */
function* wordOf(
  context: ApplicationContext,
  driver: Driver,
  running: readonly Stored[],
  body: Stored,
): Reads<DriverWord> {
  const { view, policies } = context;
  if (!mayAsk(context, driver)) return { queried: false };
  const since = instantOf(podStatus(body).startTime) ?? driver.submittedAt;
  const { pulse } = ledgerOf(context, driver).care ?? {};
  const asking = { now: view.now, since, limits: policies, timed: isTimed(context) };
  if (view.now < nextQuestion(pulse, running, asking)) return { queried: false };
  const { registered } = yield* askDriver(context, driver);
  return { queried: true, registered };
}

/** True when Spark deletes ended executors: its default, unless Rekindle submitted the run or the user decided. */
const isRemovedBySpark = (context: ApplicationContext, body: Stored): boolean =>
  (asksDeletion(context) ?? (labelOf(body, attemptLabel) === undefined ? "delete" : "keep")) === "delete";

/** A run whose driver runs: the driver with its pod, and the pods that its list shows. */
export type Watched = {
  readonly driver: Driver;
  readonly pod: Stored;
  readonly found: Pods;
  /** All executors, where Rekindle creates them; absent: those of the list count. */
  readonly members?: readonly Member[] | undefined;
};

type Findings = {
  readonly executors: readonly Stored[];
  readonly running: readonly Stored[];
  readonly word: DriverWord;
  readonly mended: Repair;
  readonly leave: NodeDrain;
  /** Executors have changed since the list, so some of them are judged by the next step. */
  readonly changes: boolean;
};

function* findingsOf(context: ApplicationContext, { driver, found, pod: body, members }: Watched): Reads<Findings> {
  const ledger = ledgerOf(context, driver);
  const executors = members?.map(({ pod }) => pod) ?? (yield* everyone(context, driver, found, ledger));
  const running = runningAmong(executors);
  const [nodes, word, leave] = yield* all([
    nodesOf(context, executors),
    wordOf(context, driver, running, body),
    drainNodes(context, { executors, body, before: ledger.care?.warned }),
  ]);
  const over = idsOf(ledger.over ?? "");
  const registered = word.queried ? word.registered : undefined;
  const evidence = { executors, over, nodes, word: registered, pulse: ledger.care?.pulse, leave };
  return { executors, running, word, leave, ...(yield* repairsOf(context, evidence, ledger.care)) };
}

/** Repairs what is to be repaired; of executors that a second list shows otherwise, none is ended in this step. */
function* repairsOf(
  context: ApplicationContext,
  evidence: Evidence,
  before: Ledger["care"],
): Reads<Pick<Findings, "mended" | "changes">> {
  const mended = repairExecutors(context, evidence, before);
  if (mended.terminations.length === 0) return { mended, changes: false };
  const executors = yield* unchangedSince(context, evidence.executors);
  if (executors.length === evidence.executors.length) return { mended, changes: false };
  const { terminations, until } = evidence.leave;
  const leave = { terminations: terminations.filter(({ pod }) => executors.includes(pod)), until };
  return { mended: repairExecutors(context, { ...evidence, executors, leave }, before), changes: true };
}

const pulseOf = (
  { view }: ApplicationContext,
  before: Pulse | undefined,
  { word, running }: Findings,
): Pulse | undefined => (word.queried ? pulseAfter(before, word.registered, running, view.now) : before);

/** Leaves out absent fields; empty care is no field of the ledger. */
const careOf = (care: { readonly [Name in keyof Care]: Care[Name] | undefined }): Pick<Ledger, "care"> => {
  const { stuck, goneSince, pulse, trouble, warned } = care;
  const held: Care = {
    ...(stuck === undefined ? {} : { stuck }),
    ...(goneSince === undefined ? {} : { goneSince }),
    ...(pulse === undefined ? {} : { pulse }),
    ...(trouble === undefined ? {} : { trouble }),
    ...(warned === undefined ? {} : { warned }),
  };
  return Object.keys(held).length === 0 ? {} : { care: held };
};

type Books = {
  readonly ledger: Ledger;
  /** Losses whose events this step records at its end. */
  readonly toTell: readonly Loss[];
  readonly unclear: number;
  readonly trouble: Trouble | undefined;
  /** The time after which an earlier step's deletion that no pod shows cannot arrive any more, epoch ms. */
  readonly settledAt: number | undefined;
};

/** The ledger after this read, with the planned deletions and the trouble. */
const booksOf = (context: ApplicationContext, driver: Driver, body: Stored, findings: Findings): Books => {
  const { view } = context;
  const before = ledgerOf(context, driver);
  const { executors, mended, running } = findings;
  const missing = isRemovedBySpark(context, body) ? "removed" : "deleted";
  const { ledger, lost, unclear } = account(before, { pods: executors, now: view.now, certain: true, missing });
  const over = idsOf(ledger.over ?? "");
  const anew = terminationsOf(mended.terminations, over, view.now);
  const still = stillDoomed(before, { anew, over, now: view.now, settledMs: context.settings.settledMs });
  const doomed = [...still, ...anew];
  const pulse = pulseOf(context, before.care?.pulse, findings);
  const { goneSince, trouble } = troubleOf(context, {
    ledger,
    pulse,
    pods: executors,
    running: running.length,
    queried: findings.word.queried,
  });
  const { care: _, ...rest } = ledger;
  const { warned } = findings.leave;
  const care = careOf({ stuck: mended.stuck, goneSince, pulse, trouble: trouble?.kept, warned });
  const toTell = [...(isOwnRun(context.memory) ? [] : unreportedIn(before)), ...worthReporting(lost)].slice(
    -mostReported,
  );
  const untold = toTell.map(({ id }) => id);
  const next = {
    ...rest,
    ...(doomed.length === 0 ? {} : { doomed }),
    ...(untold.length === 0 ? {} : { untold }),
    ...care,
  };
  const oldest = still.find(({ at }) => at < view.now);
  const settledAt = oldest === undefined ? undefined : oldest.at + context.settings.settledMs;
  const dismissed = lost.filter(({ reason }) => reason === "dismissed").map(({ id }) => id);
  return { ledger: withEnds(context, { before, next, executors, dismissed }), toTell, unclear, trouble, settledAt };
};

/** The time of the driver's next question, if a timer is needed: only in doubt, or where the user set times. */
const questionAt = (
  context: ApplicationContext,
  driver: Driver,
  body: Stored,
  { ledger, findings }: { readonly ledger: Ledger; readonly findings: Findings },
): number | undefined => {
  const { view, policies } = context;
  const pulse = ledger.care?.pulse;
  const timed = isTimed(context);
  if (!mayAsk(context, driver) || (!timed && pulse?.inactive === undefined)) return undefined;
  const since = instantOf(podStatus(body).startTime) ?? driver.submittedAt;
  return nextQuestion(pulse, findings.running, { now: view.now, since, limits: policies, timed });
};

/** Monitors the executors of a run and reports what to do about them. */
export function* monitorExecutors(context: ApplicationContext, run: Watched): Reads<ExecutorReport> {
  const { driver, pod: body } = run;
  const findings = yield* findingsOf(context, run);
  const { ledger, toTell, unclear, trouble, settledAt } = booksOf(context, driver, body, findings);
  const { mended, executors, leave, changes } = findings;
  const { useless: over, until } = uselessNow(context, ledger.over ?? "", executors);
  const question = questionAt(context, driver, body, { ledger, findings });
  const asksAgain = question !== undefined && question <= context.view.now;
  const busy = unclear > 0 || changes || mended.terminations.length === mostDeletions;
  const again = asksAgain || leave.again || mended.again;
  const isEmpty = Object.keys(ledger).length === 1;
  const { executors: _, ...bare } = context.memory;
  return {
    memory: isEmpty ? bare : { ...bare, executors: ledger },
    seen: executors,
    left: isOwnRun(bare) ? lossEvents(context, unreportedIn(ledgerOf(context, driver))) : [],
    cordons: leave.cordons,
    first: [...troubleEvent(context, trouble), ...leave.events],
    effects: effectsOfEndings(mended.terminations),
    spent: over.map((pod) => removal(pod, podResource)),
    events: lossEvents(context, toTell),
    untold: [...unreportedIn(ledgerOf(context, driver)), ...toTell].map(({ id }) => id).slice(-mostReported),
    ...soonest(mended.wakeAt, settledAt, until, trouble?.wakeAt, asksAgain ? undefined : question),
    ...(busy ? { pollMs: 1_000 } : again ? { pollMs: againMs } : {}),
    ...(trouble?.says === undefined ? {} : { waitsFor: { on: "trouble", message: trouble.says } as const }),
    ...(trouble?.end === undefined ? {} : { end: trouble.end }),
  };
}

/** True when the pod still shows when the driver ended. */
const isDated = ({ driver }: Pods): boolean =>
  driver !== undefined && terminationOf(podStatus(driver), driverContainer) !== undefined;

/** The memory of a closed account, and the events to record before. */
export type Closed = { readonly memory: Memory; readonly first: readonly Effect[] };

type Run = {
  readonly context: ApplicationContext;
  readonly driver: Driver;
  readonly found: Pods;
  readonly endedAt: number;
};

/** The lifetimes of executors that end with the run, at `endedAt` where their pods show no end. */
const lifetimesOf = ({ over = "" }: Ledger, executors: readonly Stored[], endedAt: number): readonly Lifetime[] => {
  const known = idsOf(over);
  return executors.flatMap((pod) => {
    const id = executorId(pod);
    if (id === undefined || hasId(known, id)) return [];
    return lifetimeOf(id, pod, "driverEnded", endingOf(pod)?.at ?? endedAt);
  });
};

/** Records the losses that these pods show; all other executors end with the run. */
const closedWith = ({ context, driver, found, endedAt }: Run, executors: readonly Stored[]): Closed => {
  const ledger = ledgerOf(context, driver);
  const last = account(ledger, { pods: executors, now: context.view.now, certain: false });
  const { executors: _, ...bare } = context.memory;
  const kept = {
    ...afterDriversEnd(last.ledger),
    ...withLifetimes(last.ledger, lifetimesOf(last.ledger, found.executors, endedAt)),
  };
  const next = withEnds(context, { before: ledger, next: kept, executors: found.executors });
  return {
    memory: Object.keys(next).length === 1 ? bare : { ...bare, executors: next },
    first: lossEvents(context, [...unreportedIn(ledger), ...worthReporting(last.lost)]),
  };
};

const beforeDriversEnd = (found: Pods, endedAt: number): readonly Stored[] =>
  endedBefore(found.executors, { endedAt, isDated: isDated(found) });

/** The account at the driver's end: losses before it are recorded, executors that end with it are no losses. */
export const closed = (context: ApplicationContext, driver: Driver, found: Pods): Closed => {
  const { state } = context.memory;
  const endedAt = "endedAt" in state ? state.endedAt : context.view.now;
  return closedWith({ context, driver, found, endedAt }, beforeDriversEnd(found, endedAt));
};

/**
 * The account of a run that its user interrupts, before any pod of it is deleted: afterwards losses look like
 * deletions. While the driver runs, each executor that ended had a reason of its own. Undefined: closed before, or
 * none.
 */
export const interrupted = (context: ApplicationContext, found: Pods): Closed | undefined => {
  const { view, memory } = context;
  const { driver } = memory;
  if (driver === undefined || view.memory === undefined || acts[view.memory.state.phase] !== "follow") return undefined;
  const body = found.driver;
  const endedAt = body === undefined ? undefined : endOf(body);
  const lives = body !== undefined && endedAt === undefined && !isEnding(body) && evidenceOf(body) !== "failed";
  const run = { context, driver, found, endedAt: endedAt ?? view.now };
  return closedWith(run, lives ? found.executors : beforeDriversEnd(found, run.endedAt));
};
