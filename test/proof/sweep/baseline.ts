/** The record of a scenario's execution without a fault, which every case of the scenario is compared with. */
import type { Ending } from "./ending.ts";
import type { Call, Posted } from "./fault.ts";
import type { Rung } from "./rings.ts";
import type { Snapshot } from "./snapshot.ts";

/** The execution without a fault, and the snapshots from which cases fork. */
export type Baseline = {
  /** Calls of the scenario's own steps and of resyncs; other scenarios cover applications that it creates. */
  readonly calls: readonly Call[];
  readonly messages: readonly Posted[];
  readonly events: number;
  readonly rings: readonly Rung[];
  /** The number of all calls. */
  readonly length: number;
  readonly snapshots: readonly Snapshot[];
  readonly ending: Ending;
  readonly phase: string;
  readonly violations: readonly string[];
};
