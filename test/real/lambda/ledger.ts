/** Records every invocation, start and kill of all functions, and the durations that a cloud would bill. */

export type Ended = "answered" | "failed" | "timed out" | "died";

export type Entry = {
  readonly name: string;
  readonly ended: Ended;
  /** Start of the invocation, epoch ms. */
  readonly at: number;
  /** Present when the environment was started for this invocation: from its first instruction until it is ready. */
  readonly initMs?: number;
  readonly durationMs: number;
  readonly memoryMb: number;
  /** CPU time of the process in this invocation, including its start; unknown if it was killed. */
  readonly cpuMs?: number;
  /** The peak memory of the process, from the kernel. */
  readonly peakMb?: number;
};

export type Kill = { readonly name: string; readonly when: "before" | "middle" | "after" | "idle" | "time" };

export type Ledger = {
  readonly entries: readonly Entry[];
  readonly kills: readonly Kill[];
  readonly stalls: readonly string[];
  enter(entry: Entry): void;
  killed(kill: Kill): void;
  stalled(name: string): void;
  /** The median duration of recent invocations of this function. */
  typicalMs(name: string): number;
};

const recent = 25;
const unknownMs = 150;

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

export const openLedger = (): Ledger => {
  const entries: Entry[] = [];
  const kills: Kill[] = [];
  const stalls: string[] = [];
  const lasted = new Map<string, number[]>();
  return {
    entries,
    kills,
    stalls,
    enter: (entry) => {
      entries.push(entry);
      if (entry.ended === "answered")
        lasted.set(entry.name, [...(lasted.get(entry.name) ?? []), entry.durationMs].slice(-recent));
    },
    killed: (kill) => void kills.push(kill),
    stalled: (name) => void stalls.push(name),
    typicalMs: (name) => {
      const known = lasted.get(name) ?? [];
      return known.length === 0 ? unknownMs : median(known);
    },
  };
};

/** Starts are billed as invocations are; each is rounded up to a millisecond. */
export const billedMs = ({ initMs = 0, durationMs }: Entry): number => Math.ceil(initMs) + Math.ceil(durationMs);

export const gigabyteSeconds = (entries: readonly Entry[]): number =>
  entries.reduce((sum, entry) => sum + (billedMs(entry) / 1_000) * (entry.memoryMb / 1_024), 0);
