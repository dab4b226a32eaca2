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
export type Series = { readonly at: (k: number) => Case; readonly most: number };

/** A series ends with the first case that tells nothing new. */
export type Batch = readonly Case[] | Series;

const latest = (scenes: readonly Scene[], before: (scene: Scene) => boolean): Scene => {
  const found = scenes.findLast(before) ?? scenes[0];
  if (found === undefined) throw new Error("a run without a beginning");
  return found;
};

const relistMs = 500;
const longestGap = 8;
const longestDeaf = 3;
const staleUpTo = 6;
const seriesUpTo = 60;

/** Every one of the next dozen calls, then every fourth. */
const nth = (k: number): number => (k <= 12 ? k : 12 + 4 * (k - 12));

type Making = { readonly rehearsal: Rehearsal; readonly name: string };

const atCalls = ({ rehearsal, name }: Making): readonly Case[] => {
  const { calls, scenes } = rehearsal;
  const sceneFor = (n: number): Scene => latest(scenes, ({ count }) => count.calls < n);
  const named = [...deaths, ...troubles, ...pauses].flatMap(({ name: family, applies, verdict }) =>
    calls.filter(applies).map(
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
    Array.from(
      { length: staleUpTo },
      (_, index): Case => ({
        id: `${name}/stale/${call.n}/${index + 1}`,
        family: "stale",
        call,
        scene: sceneFor(call.n),
        fault: () => atCall(call.n, stale(index + 1)),
      }),
    ),
  );
  const out = outages.flatMap((one) =>
    calls.filter(one.hits).map(
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

const atEvents = ({ rehearsal, name }: Making): readonly Case[] => {
  const { events, scenes } = rehearsal;
  const all = Array.from({ length: events }, (_, index) => index + 1);
  const windows = all.flatMap((first) =>
    all
      .filter((last) => last >= first && (last - first < longestGap || first === 1 || last === events))
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

const series = ({ rehearsal, name }: Making): readonly Series[] => {
  const { calls, scenes } = rehearsal;
  const sceneFor = (n: number): Scene => latest(scenes, ({ count }) => count.calls < n);
  const steps = calls.filter(({ by }) => by === "step");
  const make = (family: string, call: Call, faultFor: (k: number) => Fault): Series => ({
    most: seriesUpTo,
    at: (k) => ({
      id: `${name}/${family}/${call.n}/${k}`,
      family,
      call,
      scene: sceneFor(call.n),
      fault: () => faultFor(k),
    }),
  });
  const pairs = steps.map((call) => make("pair", call, (k) => pair(call.n, k)));
  const writes = steps.filter(({ write }) => write);
  const lates = writes.map((call) => make("late", call, (k) => late(call.n, nth(k))));
  const saves = writes.filter(({ what }) => what.endsWith(" checkpoints"));
  const winners = saves.flatMap((save) => {
    const after = calls.filter(
      ({ invocation, n, what }) => invocation === save.invocation && n > save.n && acting.has(what),
    );
    return [...new Set(after.map(({ what }) => what))].map((what) =>
      make(`late-${what.toLowerCase().replace(" ", "-")}`, save, (k) => lateWinner(save.n, what, nth(k))),
    );
  });
  return [...pairs, ...lates, ...winners];
};

/** Writes that act upon the world. */
const acting: ReadonlySet<string> = new Set([
  "POST pods",
  "DELETE pods",
  "POST services",
  "DELETE services",
  "DELETE configmaps",
]);

/** All cases of a scenario, in an order that never changes. */
export const batchesOf = (rehearsal: Rehearsal, name: string): readonly Batch[] => {
  const making = { rehearsal, name };
  return [atCalls(making), atMessages(making), atEvents(making), ...series(making)];
};
