/** Runs one resync after another: at once, then at an interval, and sooner after a failed one. */
import type { Report } from "../../engine/ports.ts";

export type Sweeping = {
  /** True once a resync has succeeded. */
  swept(): boolean;
  /** Begins no other resync, and resolves when the one in flight has ended. */
  stop(): Promise<void>;
};

const soonMs = 30_000;

/** Starts the loop. `sweep` returns the number of keys that it sent. */
export const startSweeping = (sweep: () => Promise<number>, everyMs: number, report: Report): Sweeping => {
  let swept = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const once = async (): Promise<number> => {
    try {
      const keys = await sweep();
      swept = true;
      report(keys === 0 ? "debug" : "info", "resync: sending unfinished keys again", { keys });
      return everyMs;
    } catch (cause) {
      const waitMs = Math.min(soonMs, everyMs);
      const error = cause instanceof Error ? cause.message : String(cause);
      report("warn", "resync failed, trying again", { error, waitMs });
      return waitMs;
    }
  };
  const go = async (): Promise<void> => {
    const waitMs = await once();
    if (!stopped) timer = setTimeout(next, waitMs);
  };
  let running = go();
  const next = (): void => {
    running = go();
  };
  return {
    swept: () => swept,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
};
