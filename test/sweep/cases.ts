/** From the fault-free run of a scenario to its cases: every point that it has × every fault that applies there. */
import type { Call, Fault } from "./fault.ts";
import {
  atCall,
  atMessage,
  deafDuring,
  deaths,
  fates,
  late,
  lateWinner,
  outage,
  outages,
  pair,
  pauses,
  stale,
  troubles,
} from "./faults.ts";
import type { Rehearsal } from "./player.ts";
import type { Scenario } from "./plot.ts";
import type { Scene } from "./scene.ts";

export type Case = {
  /** Replays it alone: `scenario/fault/point`. */
  readonly id: string;
  readonly family: string;
  /** The call that it is about. */
  readonly call: Call | undefined;
  readonly scene: Scene;
  readonly fault: () => Fault;
};

/** Cases of one point that are counted up until they say no more than the one before. */
export type Series = { readonly ks: readonly number[]; readonly at: (k: number) => Case };

/** A series ends with the first case that tells nothing new. */
export type Batch = readonly Case[] | Series;

const latest = (scenes: readonly Scene[], before: (scene: Scene) => boolean): Scene => {
  const found = scenes.findLast(before) ?? scenes[0];
  if (found === undefined) throw new Error("a run without a beginning");
  return found;
};

const relistMs = 500;
/** Events that a gap takes, at most; the longest of all begin or end with the run. */
const gaps = { whole: 8, part: 3, thin: 2 } as const;
const longestDeaf = 3;
/** Revisions that a read may be behind: a few, and far enough to be from before the driver. */
const behindBy = [1, 2, 5, 16, 40] as const;

/** A save waits so long before others go on, for whom there is news by then. */
const newsMs = [400, 7_000] as const;

const fewBehindBy = [2, 16] as const;

const upTo = (last: number, from = 1, by = 1): readonly number[] =>
  Array.from({ length: Math.floor((last - from) / by) + 1 }, (_, index) => from + index * by);

/** A late write: before each of the next calls, then before every fourth. */
const arrivals: readonly number[] = [...upTo(8), ...upTo(160, 12, 4)];
const fewArrivals: readonly number[] = [...upTo(4), ...upTo(160, 8, 8)];

/**
 * `thin`: deaths everywhere, one refusal of a few kinds per place, and races at the saves.
 * `whole`: everything everywhere. `part`, for what other scenarios show already but for the state that it happens in:
 * one refusal, outage and pause of a kind per place, and two invocations against each other at every fifth call of the second.
 */
type Making = Pick<Scenario, "name" | "breadth"> & {
  readonly rehearsal: Rehearsal;
  readonly without: readonly string[];
};

const placeOf = ({ by, what, phase }: Call): string => `${by} ${what} ${phase}`;

/** The first call of each place. */
const firsts = (calls: readonly Call[]): readonly Call[] => [
  ...new Map(calls.toReversed().map((call) => [placeOf(call), call])).values(),
];

/** What a thin scenario is put to. */
const thinly: ReadonlySet<string> = new Set([
  ...["crash-after", "host-crash-after", "409", "404-named", "500", "timeout-applied", "pause-12s"],
  ...["read-only-5m", "message-twice", "message-lost", "gap", "pair"],
]);

/** The families that a scenario of this breadth is put to. */
export const isPutTo = (breadth: Scenario["breadth"], family: string): boolean =>
  breadth !== "thin" || thinly.has(family);

const atCalls = ({ rehearsal, name, breadth, without }: Making): readonly Case[] => {
  const { calls, scenes } = rehearsal;
  const brief: ReadonlySet<string> = new Set(
    breadth === "whole" ? [] : [...troubles, ...pauses].map(({ name: family }) => family),
  );
  const sceneFor = (n: number): Scene => latest(scenes, ({ count }) => count.calls < n);
  const named = [...deaths, ...troubles, ...pauses].flatMap(({ name: family, applies, verdict }) =>
    (brief.has(family) ? firsts(calls.filter(applies)) : calls.filter(applies)).map(
      (call): Case => ({
        id: `${name}/${family}/${call.n}`,
        family,
        call,
        scene: sceneFor(call.n),
        fault: () => atCall(call.n, verdict),
      }),
    ),
  );
  const reads = calls.filter((call) => call.via === "api" && !call.write && call.by === "step");
  const behind = reads.flatMap((call) =>
    (breadth === "whole" ? behindBy : fewBehindBy).map(
      (back): Case => ({
        id: `${name}/stale/${call.n}/${back}`,
        family: "stale",
        call,
        scene: sceneFor(call.n),
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
        scene: sceneFor(call.n),
        fault: () => outage(call.n, one),
      }),
    ),
  );
  return [...named, ...behind, ...out];
};

const atMessages = ({ rehearsal, name }: Making): readonly Case[] =>
  fates.flatMap(({ name: family, fate }) =>
    rehearsal.messages.map(
      ({ n }): Case => ({
        id: `${name}/${family}/${n}`,
        family,
        call: undefined,
        scene: latest(rehearsal.scenes, ({ count }) => count.messages < n),
        fault: () => atMessage(n, fate),
      }),
    ),
  );

const atEvents = ({ rehearsal, name, breadth }: Making): readonly Case[] => {
  const { events, scenes } = rehearsal;
  const all = Array.from({ length: events }, (_, index) => index + 1);
  const longest = gaps[breadth];
  const isOuter = (first: number, last: number): boolean => first === 1 || last === events;
  const windows = all.flatMap((first) =>
    all
      .filter((last) => last >= first && (last - first < longest || (breadth !== "thin" && isOuter(first, last))))
      .map((last) => [first, last] as const),
  );
  return windows.flatMap(([first, last]): readonly Case[] => {
    const scene = latest(scenes, ({ count }) => count.events < first);
    const about = { call: undefined, scene } as const;
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

const series = ({ rehearsal, name, breadth }: Making): readonly Series[] => {
  const { calls, scenes } = rehearsal;
  const sceneFor = (n: number): Scene => latest(scenes, ({ count }) => count.calls < n);
  const all = calls.filter(({ by }) => by === "step");
  const steps = breadth === "part" ? firsts(all) : all;
  const [seconds, ways] = breadth === "part" ? [upTo(60, 1, 5), fewArrivals] : [upTo(60), arrivals];
  const make = (family: string, call: Call, ks: readonly number[], faultFor: (k: number) => Fault): Series => ({
    ks,
    at: (k) => ({
      id: `${name}/${family}/${call.n}/${k}`,
      family,
      call,
      scene: sceneFor(call.n),
      fault: () => faultFor(k),
    }),
  });
  const pairs = steps.map((call) => make("pair", call, seconds, (k) => pair(call.n, k)));
  const writes = steps.filter(({ write }) => write);
  const saves = writes.filter(({ what }) => what.endsWith(" checkpoints"));
  const overtaken = newsMs.flatMap((ms) =>
    saves.map((call) => make(`overtaken-${ms}ms`, call, upTo(60), (k) => pair(call.n, k, ms))),
  );
  const lates = writes.map((call) => make("late", call, ways, (k) => late(call.n, k)));
  const winners = saves.flatMap((save) => {
    const after = calls.filter(
      ({ invocation, n, what }) => invocation === save.invocation && n > save.n && acting.has(what),
    );
    return [...new Set(after.map(({ what }) => what))].map((what) =>
      make(`late-${what.toLowerCase().replace(" ", "-")}`, save, ways, (k) => lateWinner(save.n, what, k)),
    );
  });
  return [...pairs, ...overtaken, ...lates, ...winners];
};

/** Writes that act upon the world. */
const acting: ReadonlySet<string> = new Set([
  "POST pods",
  "DELETE pods",
  "POST services",
  "DELETE services",
  "DELETE configmaps",
  "POST configmaps",
  "PATCH configmaps",
  "POST sparkapplications",
  "DELETE sparkapplications",
]);

const isSave = ({ call }: Case): boolean => call?.what.endsWith(" checkpoints") === true && call.write;

/** Of two invocations of a thin scenario: the first waits at a save, the second at every fifth call. */
const thinned = (batch: Batch): readonly Batch[] => {
  if (!("ks" in batch)) return [batch.filter(({ family }) => isPutTo("thin", family))];
  const first = batch.at(1);
  return isPutTo("thin", first.family) && isSave(first)
    ? [{ ...batch, ks: batch.ks.slice(1).filter((k) => k % 5 === 2) }]
    : [];
};

/** All cases of a scenario, in an order that never changes. */
export const batchesOf = (rehearsal: Rehearsal, { name, breadth, without = [] }: Scenario): readonly Batch[] => {
  const making = { rehearsal, name, breadth, without };
  const all: readonly Batch[] = [atCalls(making), atMessages(making), atEvents(making), ...series(making)];
  return breadth === "thin" ? all.flatMap(thinned) : all;
};
