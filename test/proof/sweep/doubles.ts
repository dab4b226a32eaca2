/**
 * Two faults in one run, in the shortest scenarios three: each comes some calls after the one before, during the
 * recovery from it. There are far more than can be run; a seed draws some of them, the same ones every time.
 */
import type { Case, Making } from "./case.ts";
import { snapshotFor, twofold } from "./case.ts";
import { openChance } from "./chance.ts";
import type { Call, Fault, Verdict } from "./fault.ts";
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

/** A fault after another one: it happens at the first call to which it applies, at least `gap` calls later. */
type Next = { readonly gap: number; readonly fault: Named };

/** Two or three faults of one run. */
type Chain = { readonly n: number; readonly first: Named; readonly later: readonly Next[] };

/** A refused create is tried once more. A second refusal is final, and that is correct behaviour. */
const hasRefusals = ({ first, later }: Chain): boolean =>
  later.some(({ gap, fault }, index) => {
    const before = later[index - 1]?.fault ?? first;
    return gap === 1 && before.name === "422" && fault.name === "422";
  });

/** `met` is true once the last fault has happened. */
const chained = ({ n, first, later }: Chain): Fault & { readonly met: () => boolean } => {
  let happened = 0;
  let latest = 0;
  const happens = (call: Call, { verdict }: Named): Verdict => {
    happened += 1;
    latest = call.n;
    return verdict(call);
  };
  return {
    call: (call) => {
      if (call.n === n) return happens(call, first);
      const next = happened === 0 ? undefined : later[happened - 1];
      if (next === undefined || call.n < latest + next.gap || !next.fault.applies(call)) return undefined;
      return happens(call, next.fault);
    },
    fired: () => happened > 0,
    met: () => happened > later.length,
    spent: () => happened > later.length,
  };
};

const caseFor = (making: Making, call: Call, chain: Chain): Case => {
  const rest = chain.later.map(({ gap, fault }) => `${gap}/${fault.name}`).join("/");
  const [second, third] = chain.later.map(({ fault }) => fault.name);
  return {
    id: `${making.name}/${twofold}/${call.n}/${chain.first.name}/${rest}`,
    family: chain.first.name,
    ...(second === undefined ? {} : { second }),
    ...(third === undefined ? {} : { third }),
    call,
    snapshot: snapshotFor(making, call),
    fault: () => chained(chain),
  };
};

type Drawing = { readonly seed: string; readonly many: number; readonly faults: 2 | 3 };

const drawnOf = (making: Making, { seed, many, faults }: Drawing): readonly Case[] => {
  const { calls } = making.baseline;
  const chance = openChance(`${seed} ${making.name}`);
  const drawn = new Map<string, Case>();
  const usual = kindsIn(making);
  const gapAfter = (n: number): number => 1 + chance.below(Math.max(1, Math.min(furthest, making.baseline.length - n)));
  for (let tries = 0; drawn.size < many && tries < 4 * many; tries++) {
    const call = chance.pick(calls);
    const first = chance.pick(usual);
    const second = { gap: gapAfter(call.n), fault: chance.pick(usual) };
    const later = faults === 2 ? [second] : [second, { gap: gapAfter(call.n), fault: chance.pick(usual) }];
    const chain: Chain = { n: call.n, first, later };
    if (!first.applies(call) || hasRefusals(chain)) continue;
    const one = caseFor(making, call, chain);
    drawn.set(one.id, one);
  }
  return [...drawn.values()];
};

/** The pairs of faults that some seeds draw. */
export const doublesOf = (making: Making, seeds: readonly number[]): readonly Case[] => {
  const many = howMany(making);
  const all = seeds.flatMap((seed) => drawnOf(making, { seed: `${seed}`, many, faults: 2 }));
  return [...new Map(all.map((one) => [one.id, one])).values()];
};

/** Three faults are drawn where a run has at most so many calls. */
const shortest = 120;
const manyTriples = 2_500_000;

/** Three faults in one run, as some seeds draw them: in the shortest scenarios. */
export const triplesOf = (making: Making, seeds: readonly number[]): readonly Case[] => {
  const { length } = making.baseline;
  if (length > shortest) return [];
  const many = Math.min(most, Math.round(manyTriples / length ** 2));
  const all = seeds.flatMap((seed) => drawnOf(making, { seed: `${seed} of three`, many, faults: 3 }));
  return [...new Map(all.map((one) => [one.id, one])).values()];
};

const namedFault = (name: string | undefined): Named | undefined => withDispatchers.find((kind) => kind.name === name);

/** The pair, or the three faults, of an id, whichever seed drew it. */
export const doubleNamed = (making: Making, id: string): Case | undefined => {
  const [, , n, one, ...rest] = id.split("/");
  const call = making.baseline.calls.find((each) => each.n === Number(n));
  const first = namedFault(one);
  const later = rest.flatMap((gap, index): readonly Next[] => {
    const fault = index % 2 === 0 ? namedFault(rest[index + 1]) : undefined;
    return fault === undefined ? [] : [{ gap: Number(gap), fault }];
  });
  if (call === undefined || first === undefined || later.length !== rest.length / 2) return undefined;
  return caseFor(making, call, { n: call.n, first, later });
};
