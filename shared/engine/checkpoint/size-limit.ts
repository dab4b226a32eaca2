/** Shrinks a record that is too large, least needed fields first, so that it can always be stored. Pure. */
import type { Operator } from "../../core/operator.ts";
import type { CheckpointRecord } from "../ports.ts";

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
