/** How long things take in the demo: long enough to be followed, short enough for a first minute. */
import type { DriverScript } from "../../simulator/script.ts";

export type Tempo = {
  /** How long the message of a killed invocation stays hidden; deployed it is 90 s. */
  readonly visibilityMs: number;
  /** How long nothing is done to it: before it is applied, and before an executor dies. */
  readonly calmMs: number;
  /** After this the demo gives up and says what is missing. */
  readonly limitMs: number;
  /** How long simulated Spark takes, for every application. */
  readonly spark: DriverScript;
};

export const tempo: Tempo = {
  visibilityMs: 4_000,
  calmMs: 1_500,
  limitMs: 50_000,
  spark: {
    startMs: 5_000,
    bootMs: 1_800,
    jobMs: 10_000,
    executors: { "1": { startMs: 700 }, "2": { startMs: 1_300 }, "*": { startMs: 900 } },
  },
};
