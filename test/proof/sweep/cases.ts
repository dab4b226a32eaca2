/** From the baseline of a scenario to its cases: every point that it has × every fault that applies there. */

import type { Baseline } from "./baseline.ts";
import { type Case, firsts, isSeries, latest, type Making, type Sized, snapshotFor } from "./case.ts";
import { openChance } from "./chance.ts";
import { beginningsOf } from "./doubles.ts";
import type { Call } from "./fault.ts";
import {
  atCall,
  atMessage,
  atRing,
  callTroubles,
  deafDuring,
  deafness,
  deaths,
  fates,
  isRingFault,
  outage,
  outages,
  pauses,
  ringFaults,
  stale,
  troubles,
  windowed,
} from "./faults.ts";
import { seriesOf } from "./interleavings.ts";
import type { Scenario } from "./scenario.ts";

const relistMs = 500;
/** The most events of a gap; the longest gaps begin or end with the run. */
const gaps = { whole: 8, part: 3, thin: 2, sparse: 1 } as const;
const longestDeaf = 3;
/** Revisions by which a read may be stale: a few, and enough to be older than the driver. */
const behindBy = [1, 2, 5, 16, 40] as const;

const fewBehindBy = [2, 16] as const;

/*
 * Breadths. `whole`: everything everywhere. `part`, for faults that other scenarios show in other states: one refusal,
 * outage and pause of a kind per place, and two invocations against each other at every fifth call of the second.
 * `thin`: deaths everywhere, one refusal of a few kinds per place, and races at the saves. `sparse`: the least of `thin`.
 */

/** Faults of a thin scenario. */
const thinly: ReadonlySet<string> = new Set([
  ...["crash-after", "host-crash-after", "409", "404-named", "timeout-applied", "pause-12s"],
  ...["read-only-5m", "message-twice", "message-lost", "gap", "pair", "windowed"],
]);

/** Faults of a sparse scenario: a death at each place, a conflict of each write, and lost messages. */
const sparsely: ReadonlySet<string> = new Set(["crash-after", "409", "message-lost", "windowed"]);

const chosenFor = { thin: thinly, sparse: sparsely } as const;

const isWide = (breadth: Scenario["breadth"]): breadth is "whole" | "part" => breadth === "whole" || breadth === "part";

/** Whether a scenario of this breadth runs with a family of faults. */
export const isPutTo = ({ breadth, also = [] }: Pick<Scenario, "breadth" | "also">, family: string): boolean =>
  isWide(breadth) || chosenFor[breadth].has(family) || also.includes(family);

/** A pod's own answer through the API server is never stale. */
const isStored = ({ what }: Call): boolean => what !== "GET pods/proxy";

const atCalls = (making: Making): readonly Case[] => {
  const { baseline, name, breadth, without } = making;
  const { calls } = baseline;
  const brief: ReadonlySet<string> = new Set(
    breadth === "whole" ? [] : [...troubles, ...pauses].map(({ name: family }) => family),
  );
  const kinds = [...deaths, ...troubles, ...deafness, ...callTroubles, ...pauses].filter(
    (kind) => !without.includes(kind.name),
  );
  const named = kinds.flatMap(({ name: family, applies, verdict }) =>
    (brief.has(family) ? firsts(calls.filter(applies)) : calls.filter(applies)).map(
      (call): Case => ({
        id: `${name}/${family}/${call.n}`,
        family,
        call,
        snapshot: snapshotFor(making, call),
        fault: () => atCall(call.n, verdict),
      }),
    ),
  );
  const reads = calls.filter((call) => call.via === "api" && !call.write && call.by !== "resync" && isStored(call));
  const behind = reads.flatMap((call) =>
    (breadth === "whole" ? behindBy : (making.behindBy ?? fewBehindBy)).map(
      (back): Case => ({
        id: `${name}/stale/${call.n}/${back}`,
        family: "stale",
        call,
        snapshot: snapshotFor(making, call),
        fault: () => atCall(call.n, stale(back)),
      }),
    ),
  );
  const lasting = outages.filter((one) => !without.includes(one.name));
  const out = lasting.flatMap((one) =>
    (breadth === "whole" ? calls.filter(one.hits) : firsts(calls.filter(one.hits))).map(
      (call): Case => ({
        id: `${name}/${one.name}/${call.n}`,
        family: one.name,
        call,
        snapshot: snapshotFor(making, call),
        fault: () => outage(call.n, one),
      }),
    ),
  );
  return [...named, ...behind, ...out];
};

const atMessages = ({ baseline, name }: Making): readonly Case[] =>
  fates.flatMap(({ name: family, fate }) =>
    baseline.messages.map(
      ({ n }): Case => ({
        id: `${name}/${family}/${n}`,
        family,
        call: undefined,
        snapshot: latest(baseline.snapshots, ({ count }) => count.messages < n),
        fault: () => atMessage(n, fate),
      }),
    ),
  );

const atEvents = ({ baseline, name, breadth }: Making): readonly Case[] => {
  const { events, snapshots } = baseline;
  const all = Array.from({ length: events }, (_, index) => index + 1);
  const longest = gaps[breadth];
  const isOuter = (first: number, last: number): boolean => first === 1 || last === events;
  const windows = all.flatMap((first) =>
    all
      .filter((last) => last >= first && (last - first < longest || (isWide(breadth) && isOuter(first, last))))
      .map((last) => [first, last] as const),
  );
  return windows.flatMap(([first, last]): readonly Case[] => {
    const snapshot = latest(snapshots, ({ count }) => count.events < first);
    const about = { call: undefined, snapshot } as const;
    const gap = {
      ...about,
      id: `${name}/gap/${first}-${last}`,
      family: "gap",
      fault: () => deafDuring(first, last, relistMs),
    };
    const deaf = {
      ...about,
      id: `${name}/deaf/${first}-${last}`,
      family: "deaf",
      fault: () => deafDuring(first, last, undefined),
    };
    return last - first < longestDeaf || last === events ? [gap, deaf] : [gap];
  });
};

/** One case: a forwarder in windows for the whole run. */
const inWindows = ({ baseline, name, without }: Making): readonly Case[] => {
  const snapshot = latest(baseline.snapshots, ({ count }) => count.events < 1);
  const one = { id: `${name}/windowed`, family: "windowed", call: undefined, snapshot, fault: windowed };
  return without.includes(one.family) ? [] : [one];
};

/** The fate of every ring, in the place of that of every event of a watch. */
const atRings = ({ baseline, name }: Making): readonly Case[] =>
  ringFaults.flatMap(({ name: family, does, isFor }) =>
    baseline.rings.filter(isFor).map(
      ({ n }): Case => ({
        id: `${name}/${family}/${n}`,
        family,
        call: undefined,
        snapshot: latest(baseline.snapshots, ({ count }) => count.events < n),
        fault: () => atRing(n, does),
      }),
    ),
  );

const isSave = ({ call }: Case): boolean => call?.what.endsWith(" checkpoints") === true && call.write;

/** A thin scenario's series: the first invocation waits at a save, the second at every fifth call (`also`: at each). */
const thinned = (scenario: Scenario, { kind, batch }: Sized): readonly Sized[] => {
  if (!isSeries(batch)) return [{ kind, batch: batch.filter(({ family }) => isPutTo(scenario, family)) }];
  const first = batch.at(1);
  const isNamed = scenario.also?.includes(first.family) === true;
  const fewer = isNamed ? batch : { ...batch, ks: batch.ks.slice(1).filter((k) => k % 5 === 2) };
  return isPutTo(scenario, first.family) && isSave(first) ? [{ kind, batch: fewer }] : [];
};

/** Share of single faults that are drawn where not all are run. */
const share = 0.01;
/** Share of faults about messages and events, which are fewer. */
const eventShare = 0.1;

/** The first fault of a kind at each place, every fault of a ring, and a share of all others as the seed draws. */
const drawn = (cases: readonly Case[], seed: number): readonly Case[] => {
  const met = new Set<string>();
  return cases.filter(({ id, family, call }) => {
    const site = call === undefined ? undefined : `${family} ${call.by} ${call.what} ${call.phase}`;
    const isFirst = site !== undefined && !met.has(site);
    if (site !== undefined) met.add(site);
    return isFirst || isRingFault(family) || openChance(`${seed} ${id}`).is(call === undefined ? eventShare : share);
  });
};

/** Share of the series that are drawn for a scenario that would be run whole. */
const seriesShare = 0.25;

const drawnOf = (sized: Sized, scenario: Scenario, seed: number): readonly Sized[] => {
  const { batch } = sized;
  if (!isSeries(batch)) return [{ ...sized, batch: drawn(batch, seed) }];
  return scenario.drawn !== true || openChance(`${seed} ${batch.at(1).id}`).is(seriesShare) ? [sized] : [];
};

/** True where nothing is drawn: all single faults are run, and all pairs of invocations. */
export const isWhole = ({ breadth, drawn: some }: Scenario): boolean => breadth === "whole" && some !== true;

/**
 * All cases of a scenario, in an order that never changes. With a seed, single faults outside of the scenarios that are
 * played whole are drawn, and two and three faults everywhere, those by all of `seeds` seeds; without, there is every single fault and no pair of faults.
 */
export const batchesOf = (
  baseline: Baseline,
  scenario: Scenario,
  { seed, seeds = 1 }: { readonly seed?: number | undefined; readonly seeds?: number | undefined },
): readonly Sized[] => {
  const making = makingOf(baseline, scenario);
  const { breadth } = making;
  const singles = [
    atCalls(making),
    atMessages(making),
    making.belled ? atRings(making) : [...atEvents(making), ...inWindows(making)],
  ].map((batch): Sized => ({ kind: "singles", batch }));
  const series = seriesOf(making).map((batch): Sized => ({ kind: "pairs", batch }));
  const all: readonly Sized[] = [...singles, ...series];
  const wanted = isWide(breadth) ? all : all.flatMap((sized) => thinned(scenario, sized));
  if (seed === undefined) return wanted;
  const some = isWhole(scenario) ? wanted : wanted.flatMap((sized) => drawnOf(sized, scenario, seed));
  const drawnBy = Array.from({ length: seeds }, (_, index) => seed + index);
  return [...some, { kind: "pairs", batch: beginningsOf(making, drawnBy), expands: true }];
};

export const makingOf = (
  baseline: Baseline,
  { name, breadth, without = [], behindBy: revisions, belled }: Scenario,
): Making => ({
  baseline,
  name,
  breadth,
  without,
  behindBy: revisions,
  belled,
});
