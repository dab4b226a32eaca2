/** Runs a scenario without a fault, then its cases, and judges each by the invariants, the ending and the quiet after it. */
import { allowances } from "./allowances.ts";
import type { Baseline } from "./baseline.ts";
import { type Case, troubledThrice, twofold } from "./case.ts";
import {
  type Continuation,
  type Continuations,
  continuationOf,
  type Forked,
  isDigested,
  isSought,
  type Recognition,
  type RecognitionOptions,
  type Rest,
  recognise,
} from "./continuations.ts";
import { type Difference, differences, endingOf, everything, gistOf } from "./ending.ts";
import { calm, runToRest } from "./event-loop.ts";
import { Execution } from "./execution.ts";
import { type Call, type Fault, noFault } from "./fault.ts";
import type { Fixture } from "./fixture.ts";
import { placeOf, sweptOf } from "./kinds.ts";
import { appName, namespace, type Scenario } from "./scenario.ts";
import type { Snapshot } from "./snapshot.ts";
import { keyOf } from "./user-actions.ts";

/** An allowed difference, and the name of its allowance. */
export type Allowed = { readonly name: string; readonly difference: Difference };

export type Verdict = {
  readonly id: string;
  readonly violations: readonly string[];
  /** Invocations from the fault's snapshot to the last resync, which finds nothing. */
  readonly invocations: number;
  readonly allowed: readonly Allowed[];
  /** The case shows nothing new after the one before it in its series. */
  readonly last: boolean;
  readonly lines: readonly string[];
  /** The end is that of another case, which came to the same state: see `continuations.ts`. */
  readonly recognised?: boolean;
};

const hourMs = 3_600_000;

/**
 * Endings of a baseline that kept quiet. Nothing is under way at an end, so a delivery finds only stored objects: of
 * ends that are equal but for events, times, counts of saves and drawn names, one is disturbed.
 */
const knownQuiet = new WeakMap<Baseline, Set<string>>();

/** Disturbs an end by a delivery, a copy of it, a resync and all later timers. None of them may write. */
const disturb = async (execution: Execution): Promise<readonly string[]> => {
  const { writes } = execution;
  execution.fault = noFault;
  const message = { ...keyOf(execution), reason: "trigger" };
  const troubled = (what: string): readonly string[] =>
    execution.writes === writes ? [] : [`quiet: ${what} wrote ${execution.writes - writes} time(s) after the end`];
  execution.post.send(message, "trigger");
  execution.post.later(message, "trigger again", 500);
  await calm(execution);
  const twice = troubled("a delivery or its copy");
  execution.fixture.simulator.clock.advanceTo(execution.now() + hourMs);
  await execution.sweep();
  await calm(execution);
  const later = troubled("a resync or a timer");
  return twice.length > 0 ? twice : later;
};

/** Disturbs an end unless one like it has kept quiet; a replay of one case always disturbs it. */
const disturbedOnce = async (execution: Execution, baseline: Baseline, gist: string): Promise<readonly string[]> => {
  const quiet = knownQuiet.get(baseline) ?? new Set();
  knownQuiet.set(baseline, quiet);
  if (quiet.has(gist) && execution.lines === undefined) return [];
  const noisy = await disturb(execution);
  if (noisy.length === 0) quiet.add(gist);
  return noisy;
};

/** The start of a value; of an Event, its reason and message. */
const shortOf = (text: string): string => {
  const [reason, message] = [/"reason":"([^"]*)"/, /"message":"([^"]*)"/].map((part) => part.exec(text)?.[1]);
  return reason === undefined || message === undefined ? text.slice(0, 120) : `${reason} "${message.slice(0, 120)}"`;
};

const told = ({ id, path, want, got }: Difference): string =>
  `end: ${id}${path}: ${shortOf(got)} instead of ${shortOf(want)}`;

const runToEnd = async (execution: Execution, recognition?: Recognition): Promise<readonly string[]> => {
  const calm = await runToRest(execution);
  recognition?.end();
  if (recognition?.found() !== undefined) return [];
  execution.oracle.end(everything(execution.fixture.simulator.store), execution.now());
  return [...execution.oracle.violations(), ...execution.dropped, ...(calm ? [] : ["end: it never comes to rest"])];
};

/** A line for the event that the scenario's user should have seen, where it is missing. */
const untold = ({ scenario: { tells }, simulator: { store } }: Fixture): readonly string[] =>
  tells === undefined || store.list("events").some((event) => event["reason"] === tells)
    ? []
    : [`end: no event ${tells}`];

const recognitionOf = (
  execution: Execution,
  fault: Fault,
  { continuations, forked, forks }: CaseOptions,
): Recognition | undefined => {
  const { scenario } = execution.fixture;
  const isOfMany = (forked ?? forks) !== undefined && isDigested(scenario);
  return continuations !== undefined && (isOfMany || isSought(continuations, scenario))
    ? recognise(continuations, execution, fault, { forked, forks })
    : undefined;
};

/** Returns the baseline: the execution with which all others are compared. */
export const runBaseline = async (fixture: Fixture, continuations?: Continuations): Promise<Baseline> => {
  const snapshots: Snapshot[] = [];
  const execution = new Execution(fixture, fixture.initial, noFault, {
    onSnapshot: (snapshot) => snapshots.push(snapshot),
  });
  const recognition = recognitionOf(execution, noFault, { continuations });
  const violations = await runToEnd(execution, recognition);
  const { calls, messages } = execution;
  const own = (name: string | undefined): boolean => name === appName || sweptOf(fixture.scenario).alone;
  const rest = {
    calls: calls.filter(({ by, key }) => by === "resync" || own(key)),
    messages: messages.filter(({ message }) => own(message.name)),
    events: execution.count.events,
    rings: execution.bell?.rung.slice() ?? [],
    length: execution.count.calls,
    snapshots,
  };
  const ending = endingOf(fixture.simulator.store, execution.identities);
  const about = sweptOf(fixture.scenario);
  const phase =
    fixture.simulator.store.get(about.table, placeOf(about, namespace, appName)) === undefined
      ? "gone"
      : execution.oracle.phase();
  const idle = execution.missed.map((pod) => `case: no pod is called ${pod}`);
  const helped = execution.lateChanges > 0 ? ["end: without a fault, it came to its end only by a resync"] : [];
  const noisy = await disturb(execution);
  recognition?.keep({ violations, noisy, differences: [] });
  const wrong = phase === fixture.scenario.ends ? [] : [`end: ${phase} instead of ${fixture.scenario.ends}`];
  const slow = execution.oracle.faultless?.() ?? [];
  const violated = [...violations, ...slow, ...wrong, ...idle, ...helped, ...noisy, ...untold(fixture)];
  return { ...rest, ending, phase, violations: violated };
};

type Judged = { readonly blamed: readonly string[]; readonly allowed: readonly Allowed[] };

const judge = (found: readonly Difference[], families: readonly string[], scenario: Scenario): Judged => {
  const judged = found.map((difference) => ({
    difference,
    name: allowances.find((one) => families.some((family) => one.allows(difference, family, scenario)))?.name,
  }));
  return {
    blamed: judged.filter(({ name }) => name === undefined).map(({ difference }) => told(difference)),
    allowed: judged.flatMap(({ name, difference }) => (name === undefined ? [] : [{ name, difference }])),
  };
};

const isLast = (execution: Execution, fault: Fault & { readonly met?: () => boolean }): boolean =>
  execution.arrivedByClock || (fault.met !== undefined && !fault.met());

/** After these faults only a resync finds the open work: a message or an event was lost, or a read was false. */
const needsResync = /^(message-lost|message-swapped|ring-lost|deaf|queue-away|stale|404-named)$/;

/** The end of a case that was run to its end. */
const restOf = async (execution: Execution, baseline: Baseline, violations: readonly string[]): Promise<Rest> => {
  const { store } = execution.fixture.simulator;
  const ending = endingOf(store, execution.identities);
  const gist = gistOf(store, execution.identities, ending);
  return {
    violations,
    differences: differences(baseline.ending, ending),
    noisy: violations.length > 0 ? [] : await disturbedOnce(execution, baseline, gist),
  };
};

type Ran = Pick<Continuation, "rest" | "invocations" | "lateChanges" | "errors">;

/** Runs an execution to its end, or to a state whose continuation is known. */
const ranOf = async (execution: Execution, baseline: Baseline, recognition: Recognition | undefined): Promise<Ran> => {
  const violations = await runToEnd(execution, recognition);
  const invocations = execution.count.invocations - execution.began;
  const known = recognition?.found();
  const rest = known?.rest ?? (await restOf(execution, baseline, violations));
  recognition?.keep(rest);
  return {
    rest,
    invocations: invocations + (known?.invocations ?? 0),
    lateChanges: execution.lateChanges + (known?.lateChanges ?? 0),
    errors: [...execution.errors, ...(known?.errors ?? [])],
  };
};

type CaseOptions = RecognitionOptions & {
  readonly trace?: boolean;
  readonly continuations?: Continuations | undefined;
  /** Takes the calls of the execution. */
  readonly calls?: (calls: readonly Call[]) => void;
};

/** A continuation that a case takes over from its fork on, without an execution. */
const overtaken = (continuations: Continuations | undefined, forked: Forked | undefined): Ran | undefined =>
  continuations === undefined || forked === undefined ? undefined : continuationOf(continuations, forked);

/** The part of a case that lies before its fork. */
const untilFork = ({ snapshot }: Case, forked: Forked | undefined): Omit<Ran, "rest"> => ({
  invocations: forked === undefined ? 0 : forked.fork.snapshot.count.invocations - snapshot.count.invocations,
  lateChanges: forked?.fork.lateChanges ?? 0,
  errors: forked?.fork.errors ?? [],
});

/** Faults that a step meets as a trouble: answers of the server, and requests without one. */
const troubling = /^(\d{3}|timeout|reset)\b/;

/** The names of a case's faults, by which its differences are judged. */
const familiesOf = ({ family, second, third }: Case): readonly string[] => {
  if (second === undefined) return [family];
  if (third === undefined) return [family, second, twofold];
  const faults = [family, second, third];
  return faults.every((fault) => troubling.test(fault)) ? [...faults, twofold, troubledThrice] : [...faults, twofold];
};

/** The verdict over a case that ran, by itself or as another one. */
const verdictOver = (fixture: Fixture, one: Case, ran: Ran, before: Omit<Ran, "rest">) => {
  const { rest } = ran;
  const families = familiesOf(one);
  const { blamed, allowed } = judge(rest.differences, families, fixture.scenario);
  const isLate = ran.lateChanges + before.lateChanges > 0;
  const left = isLate && !families.some((family) => needsResync.test(family));
  const undone = left ? ["end: something was left undone until a resync"] : [];
  const reported = families.some((family) => family.startsWith("queue-"))
    ? []
    : [...before.errors, ...ran.errors].map((error) => `report: an error: ${error}`);
  return {
    id: one.id,
    violations: [...rest.violations, ...blamed, ...undone, ...rest.noisy, ...reported],
    invocations: before.invocations + ran.invocations,
    allowed,
  };
};

/** Runs one case, from its snapshot or its fork, unless its continuation is known from the fork on. */
export const runCase = async (
  fixture: Fixture,
  baseline: Baseline,
  one: Case,
  { trace = false, continuations, forked, forks, calls }: CaseOptions = {},
): Promise<Verdict> => {
  const before = untilFork(one, forked);
  const known = overtaken(continuations, forked);
  if (known !== undefined)
    return { ...verdictOver(fixture, one, known, before), last: false, lines: [], recognised: true };
  const fault = one.fault();
  const execution = new Execution(fixture, forked?.fork.snapshot ?? one.snapshot, fault, { trace });
  const recognition = recognitionOf(execution, fault, { continuations, forked, forks });
  const ran = await ranOf(execution, baseline, recognition);
  calls?.(execution.calls);
  const verdict = verdictOver(fixture, one, ran, before);
  const idle = fault.fired() ? [] : ["case: its fault never came about"];
  return {
    ...verdict,
    violations: [...verdict.violations, ...idle],
    last: isLast(execution, fault),
    lines: execution.lines ?? [],
    recognised: recognition?.found() !== undefined,
  };
};
