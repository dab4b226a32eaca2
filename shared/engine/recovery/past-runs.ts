/** The runs that a record keeps: the latest is its memory, those before it stay for a while, and no more than so many. Pure. */
import type { PastRun } from "../../core/recovery.ts";
import type { RecoverySettings } from "../settings.ts";

type Limits = Pick<RecoverySettings, "runs" | "retentionMs">;

/** The oldest first; `over` is the run that has just ended, if one has. A run that was kept already is not kept twice. */
export const keptRuns = (
  runs: readonly PastRun[],
  over: PastRun | undefined,
  now: number,
  { runs: most, retentionMs }: Limits,
): readonly PastRun[] => {
  const others = over === undefined ? runs : [...runs.filter(({ attempt }) => attempt !== over.attempt), over];
  return most === 0 ? [] : others.filter(({ endedAt }) => endedAt + retentionMs > now).slice(-most);
};

/** When the first of them has been kept for long enough, epoch ms. */
export const expiryOf = (runs: readonly PastRun[], { retentionMs }: Limits): number | undefined =>
  runs.length === 0 ? undefined : Math.min(...runs.map(({ endedAt }) => endedAt + retentionMs));
