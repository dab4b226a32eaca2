/** What an attack is: what it does to a host, on which stage, and what it may throw; the promises that hold for all are judged around it. */
import type { Stand } from "./stand.ts";

export const classes = [
  "bombs",
  "text",
  "memory",
  "dns",
  "door",
  "escape",
  "canaries",
  "clock",
  "fairness",
  "servers",
] as const;

export type AttackClass = (typeof classes)[number];

/**
 * `cluster`: a real API server, the host under its shipped service account. `admission`: the same with its webhooks.
 * `simulated`: an API server that the attack owns, with drivers that run, answers that lie, and a clock that is set.
 */
export const stages = ["cluster", "admission", "simulated"] as const;

export type StageName = (typeof stages)[number];

export type Attack = {
  readonly class: AttackClass;
  readonly name: string;
  readonly stage: StageName;
  /** Of the short form. */
  readonly short?: true;
  /** Throws what is wrong; a text says why it could not be tried here. */
  readonly run: (stand: Stand) => Promise<string | undefined>;
};

/** Longest time without an answer to the liveness probe, ms. */
export const longestSilenceMs = 1_000;
/** Resident size of the host, MiB. */
export const mostResident = 450;
/** V8's own bound, as the attack suite promises it. */
export const heapFlag = "--max-old-space-size=450";
/** What a busy machine adds to a neighbour's seconds, ms: below this nothing is called slow. */
export const noiseMs = 3_000;

/** Throws the message unless it holds. */
export const must = (holds: boolean, message: string): void => {
  if (!holds) throw new Error(message);
};
