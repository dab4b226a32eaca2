/** Cases of a sweep: one run with up to three faults, and the counting of such runs. */
import type { Baseline } from "./baseline.ts";
import type { Call, Fault } from "./fault.ts";
import type { Scenario } from "./scenario.ts";
import type { Snapshot } from "./snapshot.ts";

export type Case = {
  /** The id, by which the case is replayed alone: `scenario/fault/point`. */
  readonly id: string;
  readonly family: string;
  /** Of two or three faults, the second and the third. */
  readonly second?: string;
  readonly third?: string;
  /** The call at which the fault happens. */
  readonly call: Call | undefined;
  readonly snapshot: Snapshot;
  readonly fault: () => Fault & { readonly met?: () => boolean };
};

/** Marks cases of two faults, or three. */
export const twofold = "then";

/** Marks cases of three faults, each of which keeps a step from its end without a death. */
export const troubledThrice = "troubled thrice";

/** Cases of one point with a counter, which ends with the first case that shows nothing new. */
export type Series = { readonly ks: readonly number[]; readonly at: (k: number) => Case };

/** A list of cases, or a series, which ends with the first case that shows nothing new. */
export type Batch = readonly Case[] | Series;

/** One fault at one point; or two invocations against each other, or two faults; or three faults. */
export type Kind = "singles" | "pairs" | "triples";

export type Sized = {
  readonly kind: Kind;
  readonly batch: Batch;
  /** The cases of the batch are the beginnings of many with one more fault, or two more: see `expansion.ts`. */
  readonly expands?: boolean;
};

export type Making = Pick<Scenario, "name" | "breadth"> & {
  readonly baseline: Baseline;
  readonly without: readonly string[];
  readonly behindBy: Scenario["behindBy"];
  readonly belled: Scenario["belled"];
};

export const isSeries = (batch: Batch): batch is Series => !Array.isArray(batch);

/** The latest snapshot before a point, from which a case forks. */
export const latest = (snapshots: readonly Snapshot[], before: (snapshot: Snapshot) => boolean): Snapshot => {
  const found = snapshots.findLast(before) ?? snapshots[0];
  if (found === undefined) throw new Error("a run without a beginning");
  return found;
};

/** The snapshot from which a case about a call forks. */
export const snapshotFor = ({ baseline }: Making, { n }: Call): Snapshot =>
  latest(baseline.snapshots, ({ count }) => count.calls < n);

/** The place of a call, as far as a test can tell: caller, call and phase. */
export const siteOf = ({ call }: Pick<Case, "call">): string | undefined =>
  call === undefined ? undefined : `${call.by}: ${call.what} in ${call.phase === "" ? "no phase" : call.phase}`;

const placeOf = ({ by, what, phase }: Call): string => `${by} ${what} ${phase}`;

/** The facts of a case by which cases are drawn. */
export type CaseOutline = Pick<Case, "id" | "family"> & { readonly site: string | undefined };

/** The first call of each place. */
export const firsts = (calls: readonly Call[]): readonly Call[] => [
  ...new Map(calls.toReversed().map((call) => [placeOf(call), call])).values(),
];
