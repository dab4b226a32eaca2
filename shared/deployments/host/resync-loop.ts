/** Resyncs one after the other: at once, then every so often, and soon again when one could not come through. */
import type { Report } from "../../engine/ports.ts";

export type Sweeping = {
  /** True once a resync has come through. */
  swept(): boolean;
  /** Begins no other, and resolves when the one in flight is over. */
  stop(): Promise<void>;
};

const soonMs = 30_000;

/** `sweep` gives how many keys it sent. */
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
