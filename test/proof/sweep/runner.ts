/** Plays a scenario without a fault, then its cases, and judges each by the invariants, the ending and the quiet after it. */

import { allowances } from "./allowances.ts";
import { type Case, twofold } from "./case.ts";
import { type Difference, differences, type Ending, endingOf, everything, gistOf } from "./ending.ts";
import { calm, direct } from "./event-loop.ts";
import { Stage } from "./execution.ts";
import { type Call, type Fault, noFault, type Posted } from "./fault.ts";
import type { Theatre } from "./fixture.ts";
import { placeOf, sweptOf } from "./kinds.ts";
import { appName, namespace, type Scenario } from "./scenario.ts";
import type { Scene } from "./snapshot.ts";
import { keyOf } from "./user-actions.ts";

/** The fault-free run, and the scenes from which cases fork. */
export type Rehearsal = {
  /** Calls of the scenario's own steps and of resyncs; other scenarios cover applications that it creates. */
  readonly calls: readonly Call[];
  readonly messages: readonly Posted[];
  readonly events: number;
  /** The number of all calls. */
  readonly length: number;
  readonly scenes: readonly Scene[];
  readonly ending: Ending;
  readonly phase: string;
  readonly violations: readonly string[];
};

/** An allowed difference, and the name of its allowance. */
export type Allowed = { readonly name: string; readonly difference: Difference };

export type Verdict = {
  readonly id: string;
  readonly violations: readonly string[];
  /** Invocations from the fault's scene to the last resync, which finds nothing. */
  readonly invocations: number;
  readonly allowed: readonly Allowed[];
  /** The case shows nothing new after the one before it in its series. */
  readonly last: boolean;
  readonly lines: readonly string[];
};

const hourMs = 3_600_000;

/**
 * Endings of a rehearsal that kept quiet. Nothing is under way at an end, so a delivery finds only stored objects: of
 * ends that are equal but for events, times, counts of saves and drawn names, one is disturbed.
 */
const knownQuiet = new WeakMap<Rehearsal, Set<string>>();

/** Disturbs an end by a delivery, a copy of it, a resync and all later timers. None of them may write. */
const disturb = async (stage: Stage): Promise<readonly string[]> => {
  const { writes } = stage;
  stage.fault = noFault;
  const message = { ...keyOf(stage), reason: "trigger" };
  const troubled = (what: string): readonly string[] =>
    stage.writes === writes ? [] : [`quiet: ${what} wrote ${stage.writes - writes} time(s) after the end`];
  stage.post.send(message, "trigger");
  stage.post.later(message, "trigger again", 500);
  await calm(stage);
  const twice = troubled("a delivery or its copy");
  stage.theatre.simulator.clock.advanceTo(stage.now() + hourMs);
  await stage.sweep();
  await calm(stage);
  const later = troubled("a resync or a timer");
  return twice.length > 0 ? twice : later;
};

/** Disturbs an end unless one like it has kept quiet; a replay of one case always disturbs it. */
const disturbedOnce = async (stage: Stage, rehearsal: Rehearsal, gist: string): Promise<readonly string[]> => {
  const quiet = knownQuiet.get(rehearsal) ?? new Set();
  knownQuiet.set(rehearsal, quiet);
  if (quiet.has(gist) && stage.lines === undefined) return [];
  const noisy = await disturb(stage);
  if (noisy.length === 0) quiet.add(gist);
  return noisy;
};

const told = ({ id, path, want, got }: Difference): string =>
  `end: ${id}${path}: ${got.slice(0, 120)} instead of ${want.slice(0, 120)}`;

const played = async (stage: Stage): Promise<readonly string[]> => {
  const calm = await direct(stage);
  stage.oracle.end(everything(stage.theatre.simulator.store), stage.now());
  return [...stage.oracle.violations(), ...(calm ? [] : ["end: it never comes to rest"])];
};

/** A line for the event that the scenario's user should have seen, where it is missing. */
const untold = ({ scenario: { tells }, simulator: { store } }: Theatre): readonly string[] =>
  tells === undefined || store.list("events").some((event) => event["reason"] === tells)
    ? []
    : [`end: no event ${tells}`];

/** The run with which all others are compared. */
export const rehearse = async (theatre: Theatre): Promise<Rehearsal> => {
  const scenes: Scene[] = [];
  const stage = new Stage(theatre, theatre.opening, noFault, { onScene: (scene) => scenes.push(scene) });
  const violations = await played(stage);
  const { calls, messages } = stage;
  const own = (name: string | undefined): boolean => name === appName || sweptOf(theatre.scenario).alone;
  const rest = {
    calls: calls.filter(({ by, key }) => by === "resync" || own(key)),
    messages: messages.filter(({ message }) => own(message.name)),
    events: stage.count.events,
    length: stage.count.calls,
    scenes,
  };
  const ending = endingOf(theatre.simulator.store, stage.identities);
  const about = sweptOf(theatre.scenario);
  const phase =
    theatre.simulator.store.get(about.table, placeOf(about, namespace, appName)) === undefined
      ? "gone"
      : stage.oracle.phase();
  const idle = stage.missed.map((pod) => `case: no pod is called ${pod}`);
  const waits = theatre.scenario.beside !== undefined;
  const helped = stage.lateChanges > 0 && !waits ? ["end: without a fault, it came to its end only by a resync"] : [];
  const noisy = await disturb(stage);
  const wrong = phase === theatre.scenario.ends ? [] : [`end: ${phase} instead of ${theatre.scenario.ends}`];
  const violated = [...violations, ...wrong, ...idle, ...helped, ...noisy, ...untold(theatre)];
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

const isLast = (stage: Stage, fault: Fault & { readonly met?: () => boolean }): boolean =>
  stage.arrivedByClock || (fault.met !== undefined && !fault.met());

/** After these faults only a resync finds the open work: a message or an event was lost, or a read was false. */
const needsResync = /^(message-lost|message-swapped|deaf|queue-away|stale|404-named)$/;

/** Plays one case. */
export const play = async (theatre: Theatre, rehearsal: Rehearsal, one: Case, trace = false): Promise<Verdict> => {
  const fault = one.fault();
  const families = one.second === undefined ? [one.family] : [one.family, one.second, twofold];
  const stage = new Stage(theatre, one.scene, fault, { trace });
  const violations = await played(stage);
  const invocations = stage.count.invocations - one.scene.count.invocations;
  const { store } = theatre.simulator;
  const ending = endingOf(store, stage.identities);
  const { blamed, allowed } = judge(differences(rehearsal.ending, ending), families, theatre.scenario);
  const gist = gistOf(store, stage.identities, ending);
  const noisy = violations.length > 0 ? [] : await disturbedOnce(stage, rehearsal, gist);
  const waits = theatre.scenario.beside !== undefined;
  const left = stage.lateChanges > 0 && !waits && !families.some((family) => needsResync.test(family));
  const undone = left ? ["end: something was left undone until a resync"] : [];
  const errors = families.some((family) => family.startsWith("queue-"))
    ? []
    : stage.errors.map((error) => `report: an error: ${error}`);
  const idle = fault.fired() ? [] : ["case: its fault never came about"];
  return {
    id: one.id,
    violations: [...violations, ...blamed, ...undone, ...noisy, ...errors, ...idle],
    invocations,
    allowed,
    last: isLast(stage, fault),
    lines: stage.lines ?? [],
  };
};
