/** What a sweep is made of: one run with one fault, or with two, and how such runs are counted. */
import type { Call, Fault } from "./fault.ts";
import type { Rehearsal } from "./player.ts";
import type { Scenario } from "./plot.ts";
import type { Scene } from "./scene.ts";

export type Case = {
  /** Replays it alone: `scenario/fault/point`. */
  readonly id: string;
  readonly family: string;
  /** Of two faults, the second. */
  readonly second?: string;
  /** The call that it is about. */
  readonly call: Call | undefined;
  readonly scene: Scene;
  readonly fault: () => Fault & { readonly met?: () => boolean };
};

/** Marks cases of two faults. */
export const twofold = "then";

/** Cases of one point that are counted up until they say no more than the one before. */
export type Series = { readonly ks: readonly number[]; readonly at: (k: number) => Case };

/** A series ends with the first case that tells nothing new. */
export type Batch = readonly Case[] | Series;

/** One fault at one point; or two invocations against each other, or two faults. */
export type Kind = "singles" | "pairs";

export type Sized = { readonly kind: Kind; readonly batch: Batch };

export type Making = Pick<Scenario, "name" | "breadth"> & {
  readonly rehearsal: Rehearsal;
  readonly without: readonly string[];
};

export const isSeries = (batch: Batch): batch is Series => !Array.isArray(batch);

/** The last moment before, from which a case forks. */
export const latest = (scenes: readonly Scene[], before: (scene: Scene) => boolean): Scene => {
  const found = scenes.findLast(before) ?? scenes[0];
  if (found === undefined) throw new Error("a run without a beginning");
  return found;
};

/** The moment from which a case about a call forks. */
export const sceneFor = ({ rehearsal }: Making, { n }: Call): Scene =>
  latest(rehearsal.scenes, ({ count }) => count.calls < n);

const placeOf = ({ by, what, phase }: Call): string => `${by} ${what} ${phase}`;

/** The first call of each place. */
export const firsts = (calls: readonly Call[]): readonly Call[] => [
  ...new Map(calls.toReversed().map((call) => [placeOf(call), call])).values(),
];
