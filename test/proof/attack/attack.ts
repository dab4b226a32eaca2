/**
 * An attack: its actions against a host, and the stage that it needs. `judge.ts` checks around each attack the promises
 * that hold for all.
 */
import type { Stand } from "./stand.ts";

export const classes = [
  "bombs",
  "text",
  "memory",
  "dns",
  "door",
  "floods",
  "records",
  "bell",
  "signs",
  "escape",
  "canaries",
  "clock",
  "fairness",
  "servers",
] as const;

export type AttackClass = (typeof classes)[number];

/**
 * `cluster`: a real API server; the host runs under its shipped service account. `admission`: the same with its
 * webhooks. `dispatcher`, `dispatcher-admission`: the dispatcher and the functions that it calls, in place of the host.
 * `simulated`: an API server that the attack controls, with running drivers, false answers, and a clock that it sets.
 */
export const stages = ["cluster", "admission", "dispatcher", "dispatcher-admission", "simulated"] as const;

export type StageName = (typeof stages)[number];

export type Attack = {
  readonly class: AttackClass;
  readonly name: string;
  readonly stage: StageName;
  /** Part of the short form. */
  readonly short?: true;
  /** Throws if a promise is broken; a returned text is the reason why the attack was skipped here. */
  readonly run: (stand: Stand) => Promise<string | undefined>;
};

/** Returns the attacks on the dispatcher and its functions, in place of the host; only those of the long form. */
export const onDispatcher = (attacks: readonly Attack[]): readonly Attack[] =>
  attacks.map(({ short: _, ...one }) => ({
    ...one,
    name: `dispatcher: ${one.name}`,
    stage: one.stage === "admission" ? "dispatcher-admission" : "dispatcher",
  }));

/** Longest time without an answer to the liveness probe, ms. */
export const longestSilenceMs = 1_000;
/** Largest resident size of the host, MiB. */
export const mostResident = 450;

/** Throws the message unless `holds` is true. */
export const must = (holds: boolean, message: string): void => {
  if (!holds) throw new Error(message);
};
