/**
 * Two faults in one run, in the shortest scenarios three: each comes some calls after the one before, during the
 * recovery from it. A seed draws the first fault. All second ones within some calls of it follow (`expansion.ts`), and
 * after some of these all third ones.
 */
import type { Case, Making } from "./case.ts";
import { snapshotFor, twofold } from "./case.ts";
import { type Chance, openChance } from "./chance.ts";
import { isDigested } from "./continuations.ts";
import type { Call, Fault } from "./fault.ts";
import { callTroubles, deafness, deaths, type Named, pauses, troubles } from "./faults.ts";
import type { Scenario } from "./scenario.ts";

/** Faults that may be part of a pair. */
const kinds: readonly Named[] = [...deaths, ...troubles, ...pauses];

/** The same, in scenarios with listeners. */
const withListeners: readonly Named[] = [...kinds, ...deafness];

/** The same, in scenarios with a dispatcher. */
const withDispatchers: readonly Named[] = [...withListeners, ...callTroubles];

/** Names of the faults that pairs may have. */
export const pairable: ReadonlySet<string> = new Set(withDispatchers.map(({ name }) => name));

/** A fault that a scenario leaves out alone is in none of its pairs. */
const kindsIn = ({ baseline: { calls }, without }: Making): readonly Named[] => {
  const some = calls.some(({ via }) => via === "listener") ? withListeners : kinds;
  const all = calls.some(({ called }) => called) ? withDispatchers : some;
  return all.filter(({ name }) => !without.includes(name));
};

/** A fault of a case, and the number of the call at which it happens. */
export type Step = { readonly at: number; readonly fault: Named };

/** Each step happens at its call, or at the first one after it to which its fault applies; everything else passes. */
export const atSteps = (steps: readonly Step[]): Fault & { readonly met: () => boolean } => {
  let happened = 0;
  let later = 0;
  const isOver = (): boolean => happened === steps.length;
  return {
    call: (call) => {
      const step = steps[happened];
      if (step === undefined || call.n < step.at + later || !step.fault.applies(call)) return undefined;
      happened += 1;
      later = call.n - step.at;
      return step.fault.verdict(call);
    },
    ...{ fired: isOver, met: isOver, spent: isOver },
  };
};

/** The faults of a case one after the other, each with the number of calls since the one before. */
const gapsOf = (steps: readonly Step[]): readonly (string | number)[] =>
  steps.flatMap(({ at, fault }, index) => [at - (steps[index - 1]?.at ?? 0), fault.name]);

/** The case of some faults; `first`: the call of the first one. */
export const caseFor = (making: Making, first: Call, steps: readonly Step[]): Case => {
  const [family = "", second, third] = steps.map(({ fault }) => fault.name);
  return {
    id: [making.name, twofold, ...gapsOf(steps)].join("/"),
    family,
    ...(second === undefined ? {} : { second }),
    ...(third === undefined ? {} : { third }),
    call: first,
    snapshot: snapshotFor(making, first),
    fault: () => atSteps(steps),
  };
};

/** The first faults of many cases. */
export type Beginning = { readonly first: Call; readonly steps: readonly Step[] };

/** A fault comes at most this many calls after the one before, and within the length of the run without a fault. */
export const furthest = 20;

export const lastAfter = ({ baseline: { length } }: Making, { first, steps }: Beginning): number =>
  (steps.at(-1)?.at ?? first.n) + Math.max(1, Math.min(furthest, length - first.n));

/** A refused create is tried once more. A second refusal is final, and that is correct behaviour. */
const isFinal = (before: Step | undefined, { at, fault }: Step): boolean =>
  before?.fault.name === "422" && fault.name === "422" && at === before.at + 1;

/** All faults that may come after those of a beginning, at the calls that follow them. */
export const nextSteps = (making: Making, beginning: Beginning, calls: readonly Call[]): readonly Step[] => {
  const before = beginning.steps.at(-1);
  const last = lastAfter(making, beginning);
  const usual = kindsIn(making);
  return calls
    .filter(({ n }) => n > (before?.at ?? 0) && n <= last)
    .flatMap((call) =>
      usual
        .filter((fault) => fault.applies(call))
        .map((fault) => ({ at: call.n, fault }))
        .filter((step) => !isFinal(before, step)),
    );
};

/** The number of first faults that a seed draws: fewer where a run is long, for each of their cases runs the rest of it. */
const manyFor: Readonly<Record<Making["breadth"], number>> = {
  whole: 60_000,
  part: 40_000,
  thin: 40_000,
  sparse: 20_000,
};
const most = 12;

const howMany = ({ baseline, breadth }: Making): number =>
  Math.max(1, Math.min(most, Math.round(manyFor[breadth] / baseline.length ** 2)));

/** Where no state is known again, each case runs from its snapshot to its end: this share of the second faults is drawn. */
const share = 0.03;

export const isDrawn = (scenario: Scenario, id: string): boolean =>
  isDigested(scenario) || openChance(`second ${id}`).is(share);

/** Three faults are drawn where a run has at most so many calls, for this share of the pairs of a beginning. */
const shortest = 120;
const thirdShare = 0.004;

export const isThird = ({ baseline }: Making, scenario: Scenario, id: string): boolean =>
  baseline.length <= shortest && isDigested(scenario) && openChance(`third ${id}`).is(thirdShare);

const drawnBy = (making: Making, chance: Chance, many: number): readonly Case[] => {
  const drawn: Case[] = [];
  const usual = kindsIn(making);
  for (let tries = 0; drawn.length < many && tries < 20 * many; tries++) {
    const first = chance.pick(making.baseline.calls);
    const fault = chance.pick(usual);
    if (fault.applies(first)) drawn.push(caseFor(making, first, [{ at: first.n, fault }]));
  }
  return drawn;
};

/** The first faults that some seeds draw. */
export const beginningsOf = (making: Making, seeds: readonly number[]): readonly Case[] => {
  const many = howMany(making);
  const all = seeds.flatMap((seed) => drawnBy(making, openChance(`${seed} ${making.name}`), many));
  return [...new Map(all.map((one) => [one.id, one])).values()];
};

const namedFault = (name: string | undefined): Named | undefined => withDispatchers.find((kind) => kind.name === name);

/** The faults of an id: `scenario/then/call/fault/calls later/fault…`. */
export const stepsNamed = (id: string): readonly Step[] | undefined => {
  const [, , ...parts] = id.split("/");
  const steps: Step[] = [];
  for (let index = 0; index < parts.length; index += 2) {
    const fault = namedFault(parts[index + 1]);
    if (fault === undefined) return undefined;
    steps.push({ at: (steps.at(-1)?.at ?? 0) + Number(parts[index]), fault });
  }
  return steps;
};

/** The beginning of an id. */
export const beginningNamed = ({ baseline }: Making, id: string): Beginning | undefined => {
  const steps = stepsNamed(id);
  const first = baseline.calls.find(({ n }) => n === steps?.[0]?.at);
  return steps === undefined || first === undefined ? undefined : { first, steps };
};

/** The case of an id, whichever seed drew it. */
export const doubleNamed = (making: Making, id: string): Case | undefined => {
  const found = beginningNamed(making, id);
  return found === undefined ? undefined : caseFor(making, found.first, found.steps);
};
