/** A moment of an execution from which others fork: plain data that is shared, never written. */

import type { CacheState } from "../../../shared/deployments/host/cache.ts";
import type { SimulatorState } from "../../../shared/simulator/open.ts";
import type { Journal } from "./journal.ts";
import type { Oracle } from "./oracle.ts";

/** The numbers of calls, messages and others before this moment. */
export type Count = { calls: number; messages: number; events: number; invocations: number; told: number };

export const copyOf = ({ kept, bytes, share, made, current, latest }: CacheState): CacheState => ({
  kept: new Map(kept),
  bytes: new Map(bytes),
  share: share.copy(),
  made: { objects: new Map(made.objects), share: made.share.copy() },
  current: new Map(current),
  latest,
});

/** Interval of a forwarder's looks for other controllers. */
export const lookMs = 30_000;

export type Snapshot = {
  readonly simulator: SimulatorState;
  readonly journal: Journal;
  readonly oracle: Oracle;
  readonly count: Readonly<Count>;
  readonly nextSweep: number;
  readonly nextLook: number;
  /** The cache of the host's own steps. */
  readonly mind: CacheState;
  readonly identities: ReadonlyMap<string, string>;
  /** User actions that were set off, and those of them that are still to come. */
  readonly met: ReadonlySet<number>;
  readonly armed: readonly { readonly at: number; readonly index: number }[];
};
