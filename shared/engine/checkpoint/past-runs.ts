/**
 * The past runs of a record: the memory describes the latest run, those before it are kept for a time and up to a
 * number. Pure.
 */
import type { PastRun } from "../../core/plan.ts";
import type { RecoverySettings } from "../settings.ts";

type Limits = Pick<RecoverySettings, "runs" | "retentionMs">;

/**
 * Returns the past runs to keep, oldest first. `over` is the run that has just ended, if any; it replaces an entry of
 * the same attempt.
 */
export const keptRuns = (
  runs: readonly PastRun[],
  over: PastRun | undefined,
  now: number,
  { runs: most, retentionMs }: Limits,
): readonly PastRun[] => {
  const others = over === undefined ? runs : [...runs.filter(({ attempt }) => attempt !== over.attempt), over];
  return most === 0 ? [] : others.filter(({ endedAt }) => endedAt + retentionMs > now).slice(-most);
};

/** Returns the end of the retention of the oldest run, epoch ms. */
export const expiryOf = (runs: readonly PastRun[], { retentionMs }: Limits): number | undefined =>
  runs.length === 0 ? undefined : Math.min(...runs.map(({ endedAt }) => endedAt + retentionMs));
