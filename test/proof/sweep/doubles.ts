/**
 * Two faults in one run: the second comes some calls after the first, during the recovery from it. There are far more
 * pairs than can be run; a seed draws some of them, the same ones every time.
 */
import type { Case, Making } from "./case.ts";
import { snapshotFor, twofold } from "./case.ts";
import { openChance } from "./chance.ts";
import type { Call, Fault } from "./fault.ts";
import { callTroubles, deafness, deaths, type Named, pauses, troubles } from "./faults.ts";

/** Faults that may be part of a pair. */
const kinds: readonly Named[] = [...deaths, ...troubles, ...pauses];

/** The same, in scenarios with listeners. */
const withListeners: readonly Named[] = [...kinds, ...deafness];

/** The same, in scenarios with a dispatcher. */
const withDispatchers: readonly Named[] = [...withListeners, ...callTroubles];

/** Names of the faults that pairs may have. */
export const pairable: ReadonlySet<string> = new Set(
  [...deaths, ...troubles, ...pauses, ...deafness, ...callTroubles].map(({ name }) => name),
);

/** A fault that a scenario leaves out alone is in none of its pairs. */
const kindsIn = ({ baseline: { calls }, without }: Making): readonly Named[] => {
  const some = calls.some(({ via }) => via === "listener") ? withListeners : kinds;
  const all = calls.some(({ called }) => called) ? withDispatchers : some;
  return all.filter(({ name }) => !without.includes(name));
};

/** The second comes at most this many calls after the first, and within the length of the run without a fault. */
const furthest = 20;

/** The number of drawn pairs: fewer where a run is long, for each runs the rest of it. */
const manyFor: Readonly<Record<Making["breadth"], number>> = {
  whole: 7_000_000,
  part: 5_000_000,
  thin: 5_900_000,
  sparse: 1_300_000,
};
const most = 2_600;

const howMany = ({ baseline, breadth }: Making): number =>
  Math.min(most, Math.round(manyFor[breadth] / baseline.length ** 2));

/** A refused create is tried once more. A second refusal is final, and that is correct behaviour. */
const isRefusal = ({ first, gap, second }: Omit<Double, "n">): boolean =>
  gap === 1 && first.name === "422" && second.name === "422";

type Double = { readonly n: number; readonly first: Named; readonly gap: number; readonly second: Named };

/** `met` is true once the second fault has happened. */
const both = ({ n, first, gap, second }: Double): Fault & { readonly met: () => boolean } => {
  let fired = false;
  let met = false;
  return {
    call: (call) => {
      if (call.n === n) {
        fired = true;
        return first.verdict(call);
      }
      if (!fired || met || call.n < n + gap || !second.applies(call)) return undefined;
      met = true;
      return second.verdict(call);
    },
    fired: () => fired,
    met: () => met,
    spent: () => met,
  };
};

const caseFor = (making: Making, call: Call, double: Double): Case => ({
  id: `${making.name}/${twofold}/${call.n}/${double.first.name}/${double.gap}/${double.second.name}`,
  family: double.first.name,
  second: double.second.name,
  call,
  snapshot: snapshotFor(making, call),
  fault: () => both(double),
});

/** The pairs of faults that a seed draws. */
export const doublesOf = (making: Making, seed: number): readonly Case[] => {
  const { calls } = making.baseline;
  const chance = openChance(`${seed} ${making.name}`);
  const drawn = new Map<string, Case>();
  const many = howMany(making);
  const usual = kindsIn(making);
  for (let tries = 0; drawn.size < many && tries < 4 * many; tries++) {
    const call = chance.pick(calls);
    const first = chance.pick(usual);
    const gap = 1 + chance.below(Math.max(1, Math.min(furthest, making.baseline.length - call.n)));
    const second = chance.pick(usual);
    if (!first.applies(call) || isRefusal({ first, gap, second })) continue;
    const one = caseFor(making, call, { n: call.n, first, gap, second });
    drawn.set(one.id, one);
  }
  return [...drawn.values()];
};

/** The pair of an id, whichever seed drew it. */
export const doubleNamed = (making: Making, id: string): Case | undefined => {
  const [, , n, first, gap, second] = id.split("/");
  const call = making.baseline.calls.find((one) => one.n === Number(n));
  const [a, b] = [first, second].map((name) => withDispatchers.find((kind) => kind.name === name));
  if (call === undefined || a === undefined || b === undefined) return undefined;
  return caseFor(making, call, { n: call.n, first: a, gap: Number(gap), second: b });
};
