/** The part of an admission round that evicts pods, as the round knows it: see the folder eviction, which is loaded apart. */
import type { Reads } from "../../core/decision.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import type { Verdict } from "./admission.ts";
import type { RoundPlanner } from "./ground.ts";
import type { Nomination } from "./state/memory.ts";

export type EvictionInput = {
  readonly queues: readonly Stored[];
  readonly groups: readonly Stored[];
  /** The Jobs of groups that need places or may give room. */
  readonly jobs: readonly Stored[];
  readonly ground: RoundPlanner;
  readonly verdicts: readonly Verdict[];
  /** UIDs of the groups that enter in this round. */
  readonly entering: ReadonlySet<string>;
  /** The saved nominations. */
  readonly nominations: readonly Nomination[];
  /** Epoch ms. */
  readonly now: number;
};

export type EvictionRound = {
  /** To be remembered. */
  readonly nominations: readonly Nomination[];
  /** Events, marks of groups that give room, and evictions: all of saved nominations. */
  readonly stages: readonly (readonly Effect[])[];
  /** The next round follows at once. */
  readonly isMore: boolean;
};

export type Evicting = {
  /** Returns the nominations whose groups still wait for their room. */
  readonly openIn: (
    nominations: readonly Nomination[],
    groups: readonly Stored[],
    now: number,
  ) => readonly Nomination[];
  /** Returns the groups that may give room. */
  readonly givingIn: (groups: readonly Stored[]) => readonly Stored[];
  readonly round: (input: EvictionInput) => Reads<EvictionRound>;
};
