/**
 * Parses stored checkpoint records. Of a record that does not parse, it reports the problems field by field, and
 * returns the fields that do. Past runs are kept for a time and up to a number, fields that a later version wrote as
 * they are; of a record that is too large only the most needed fields, so that it can always be stored. Pure.
 */
import * as z from "zod";
import { oncePerObject } from "../../core/cache.ts";
import { isRecord, omit, same } from "../../core/json.ts";
import type { Operator } from "../../core/operator.ts";
import { type PastRun, problemsIn, withoutBad } from "../../core/plan.ts";
import { isInstant } from "../../core/time.ts";
import type { AnyRecord, CheckpointRecord, DeliveryRecord, ReadResult } from "../ports.ts";
import type { RecoverySettings } from "../settings.ts";
import { specsShape } from "./specs.ts";
import { timelineShape } from "./timeline.ts";

const positionShape = z.object({ stream: z.string(), sequence: z.number().int().min(0) });

/** An instant, epoch ms; a number outside the range of dates is damage. */
const instant = z.number().refine(isInstant, "is not a time");

const update = z.object({
  state: z.string(),
  attempt: z.number().int(),
  terminal: z.boolean(),
  message: z.string().optional(),
  sequence: z.number().int().min(1),
  uid: z.string().min(1),
  at: instant,
});

const outboxShape = z.object({
  stream: z.string().min(1),
  origin: z.string().optional(),
  to: z.string(),
  entries: z.array(update).min(1),
  leftAt: instant.optional(),
});

/** True for an outbox that can be read. */
export const isOutbox = (stored: unknown): boolean => outboxShape.safeParse(stored).success;

const made = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

const run = z.looseObject({
  attempt: z.number().int(),
  submissionId: z.string().optional(),
  driver: z.string().optional(),
  startedAt: instant.optional(),
  endedAt: instant,
  outcome: z.enum(["completed", "failed", "refused", "replaced", "suspended", "voided", "ended"]),
  error: z.string().optional(),
  losses: z.number().optional(),
});

const head = {
  schema: z.literal(1),
  cluster: z.string().min(1),
  uid: z.string().min(1),
  saves: z.number().int().min(1),
};

const deliveryShape = z.looseObject({
  ...head,
  rests: z.boolean().optional(),
  wakeAt: instant.optional(),
  acknowledged: positionShape.optional(),
  memory: z.unknown(),
});

const shape = z.looseObject({
  ...head,
  made: made.optional(),
  generation: z.number().int().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  rests: z.boolean().optional(),
  marks: z.string().optional(),
  wakeAt: instant.optional(),
  waitsFor: z.string().optional(),
  untimed: z.boolean().optional(),
  status: z.object({ wished: z.string(), answered: z.string() }).optional(),
  trouble: z.object({ reason: z.string(), message: z.string(), since: instant }).optional(),
  outbox: outboxShape.optional(),
  returning: z.object({ since: instant, until: instant, ends: z.boolean().optional() }).optional(),
  cleanup: z
    .object({ since: instant, graceSeconds: z.number().int().min(0), forceAt: instant, done: instant.optional() })
    .optional(),
  recovered: z
    .object({
      at: instant,
      how: z.enum(["salvaged", "voided", "fresh", "reconnected", "cleaned"]),
      why: z.string(),
      was: z.unknown().optional(),
    })
    .optional(),
  runs: z.array(run).optional(),
  pruneAt: instant.optional(),
  timeline: timelineShape.optional(),
  specs: specsShape.optional(),
  logs: z.literal(true).optional(),
  memory: z.unknown(),
});

/** The schema that this version writes, and the newest that it reads. */
export const schema = 1;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Maps a released schema to the function that turns its records into those of the next; each has a fixture in
 * test/unit/engine/recovery/released.
 */
export type Forward = Readonly<Record<number, (record: Fields) => Fields>>;

const forward: Forward = {};

/** Returns the schema number of a stored record; undefined if it has none. */
export const schemaOf = (stored: unknown): number | undefined => {
  const number = isRecord(stored) ? stored["schema"] : undefined;
  return typeof number === "number" && Number.isInteger(number) && number > 0 ? number : undefined;
};

/**
 * Brings a record of an earlier schema to the newest, schema by schema. A record of a schema without a conversion stays
 * as it is.
 */
export const broughtForward = (stored: unknown, steps: Forward = forward): unknown => {
  let record = stored;
  for (let from = schemaOf(record); from !== undefined; ) {
    const step = steps[from];
    if (step === undefined || !isRecord(record)) return record;
    record = { ...step(record), schema: from + 1 };
    from += 1;
  }
  return record;
};

export type ReadRecord =
  | { readonly ok: true; readonly record: CheckpointRecord }
  | { readonly ok: false; readonly error: string; readonly problems: readonly string[]; readonly rest: Salvaged };

/** The fields of a damaged record that can be read. */
export type Salvaged = { readonly [F in keyof CheckpointRecord]?: CheckpointRecord[F] | undefined };

const partial = shape.partial();

const errorOf = (problems: readonly string[]): string => `checkpoint cannot be read (${problems.join("; ")})`;

/**
 * Reads a stored record. If it does not parse, the answer lists the problems field by field and holds the fields that
 * do parse.
 */
export const readRecord = oncePerObject((stored): ReadRecord => {
  const parsed = shape.safeParse(stored);
  if (parsed.success) return { ok: true, record: parsed.data };
  const { issues } = parsed.error;
  const problems = problemsIn(issues, "record");
  const error = errorOf(problems);
  return { ok: false, error, problems, rest: partial.safeParse(withoutBad(stored, issues)).data ?? {} };
});

/** Reads the stored record of a delivery. */
export const readDelivery = oncePerObject((stored): ReadResult<DeliveryRecord> => {
  const { data, error } = deliveryShape.safeParse(stored);
  return data === undefined
    ? { ok: false, error: errorOf(problemsIn(error.issues, "record")) }
    : { ok: true, record: data };
});

/** Reads a stored record of any use: only a delivery's says what is acknowledged. */
export const readAny = (stored: unknown): ReadResult<AnyRecord> =>
  isRecord(stored) && "acknowledged" in stored ? readDelivery(stored) : readRecord(stored);

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
  ({ specs: _, ...record }) => record,
  ({ timeline: _, ...record }) => record,
  withoutArchive,
  ({ runs = [], ...record }) => ({ ...record, runs: runs.map((run) => omit(run, "error", "account")) }),
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
export const withUnreadFields = (operator: Operator<unknown>, stored: unknown, next: unknown): unknown => {
  if (!isRecord(stored) || !isRecord(next)) return next;
  const read = operator.parse(stored);
  if (!read.ok || !isRecord(read.memory) || same(read.memory, stored)) return next;
  const known = read.memory;
  const beyond = Object.entries(stored).filter(([key]) => !Object.hasOwn(known, key) && !Object.hasOwn(next, key));
  const own = Object.entries(next).map(([key, value]) => [key, same(known[key], value) ? stored[key] : value] as const);
  return Object.fromEntries([...own, ...beyond]);
};
