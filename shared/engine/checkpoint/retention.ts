/**
 * The parts of a record beside the memory of the latest run: past runs, for a time and up to a number; fields that a
 * later version wrote; and of a record that is too large the most needed fields, so that it can always be stored.
 * Pure.
 */

import { isRecord, same } from "../../core/json.ts";
import type { Operator } from "../../core/operator.ts";
import type { PastRun } from "../../core/plan.ts";
import type { CheckpointRecord } from "../ports.ts";
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

type Squeeze = (record: CheckpointRecord, operator: Operator<unknown>) => CheckpointRecord;

const short = 200;

const withoutArchive: Squeeze = ({ recovered, ...record }) => {
  if (recovered === undefined) return record;
  const { was: _, ...rest } = recovered;
  return { ...record, recovered: rest };
};

/** In the order in which fields are dropped. */
const squeezes: readonly Squeeze[] = [
  withoutArchive,
  ({ runs = [], ...record }) => ({ ...record, runs: runs.map(({ error: _, ...run }) => run) }),
  ({ runs = [], ...record }) => ({ ...record, runs: runs.slice(-1) }),
  ({ runs: _, ...record }) => record,
  (record, { recovery }) => ({ ...record, memory: recovery?.trimmed?.(record.memory) ?? record.memory }),
  ({ trouble, waitsFor, ...record }) => ({
    ...record,
    ...(waitsFor === undefined ? {} : { waitsFor: waitsFor.slice(0, short) }),
    ...(trouble === undefined ? {} : { trouble: { ...trouble, message: trouble.message.slice(0, short) } }),
  }),
  ({ labels: _, ...record }) => record,
];

const bytesOf = (record: CheckpointRecord): number => Buffer.byteLength(JSON.stringify(record));

/** Returns the record, small enough for `maxBytes`, or as small as possible. */
export const bounded = (record: CheckpointRecord, operator: Operator<unknown>, maxBytes: number): CheckpointRecord => {
  let fitting = record;
  for (const squeeze of squeezes) {
    if (bytesOf(fitting) <= maxBytes) return fitting;
    fitting = squeeze(fitting, operator);
  }
  return fitting;
};

/**
 * Returns the memory to store, together with the fields of the stored one that its kind does not read: fields of the
 * memory itself, and those within fields that have not changed.
 */
export const carried = (operator: Operator<unknown>, stored: unknown, next: unknown): unknown => {
  if (!isRecord(stored) || !isRecord(next)) return next;
  const read = operator.parse(stored);
  if (!read.ok || !isRecord(read.memory) || same(read.memory, stored)) return next;
  const known = read.memory;
  const beyond = Object.entries(stored).filter(([key]) => !Object.hasOwn(known, key) && !Object.hasOwn(next, key));
  const own = Object.entries(next).map(([key, value]) => [key, same(known[key], value) ? stored[key] : value] as const);
  return Object.fromEntries([...own, ...beyond]);
};
