/** The durations of the demo: long enough to be followed, short enough for a first minute. */
import type { DriverScript } from "../../simulator/nodes/script.ts";

export type Tempo = {
  /** The visibility timeout of a killed invocation's message, ms; 90 s in a deployment. */
  readonly visibilityMs: number;
  /** The pause before the application is applied, and before an executor is killed, ms. */
  readonly calmMs: number;
  /** The time limit of the scenario, ms; then the claims that are not met fail. */
  readonly limitMs: number;
  /** The durations of simulated Spark, for every application. */
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
