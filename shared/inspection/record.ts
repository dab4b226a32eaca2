/**
 * An application's checkpoint as the command line reads it: the fields of the engine, the states of the run, its lost
 * executors, and the status updates that are not acknowledged. The rest of the memory is not parsed.
 */
import * as z from "zod";
import { checkpointRef, checkpointResource } from "../adapters/checkpoints/kubernetes.ts";
import { itemKey } from "../adapters/dynamodb/table.ts";
import { openCluster } from "../adapters/kubernetes/cluster.ts";
import { pages } from "../adapters/kubernetes/requests.ts";
import { ApiError } from "../core/http.ts";
import type { Key } from "../core/key.ts";
import { counted } from "../core/text.ts";
import { timeText } from "../core/time.ts";
import { type Position, waiting } from "../core/updates.ts";
import type { ExecutorCount } from "../kube/object-state.ts";
import type { ReadTable, Session, Source } from "./io/session.ts";
import { whenText } from "./io/text.ts";

const update = z.object({
  state: z.string(),
  attempt: z.number(),
  terminal: z.boolean(),
  message: z.string().optional(),
  sequence: z.number(),
  uid: z.string(),
  at: z.number(),
});

const shape = z.object({
  schema: z.number(),
  uid: z.string(),
  saves: z.number(),
  waitsFor: z.string().optional(),
  wakeAt: z.number().optional(),
  rests: z.boolean().optional(),
  trouble: z.object({ reason: z.string(), message: z.string(), since: z.number() }).optional(),
  outbox: z.object({ stream: z.string(), to: z.string(), entries: z.array(update).min(1) }).optional(),
  runs: z
    .array(
      z.object({
        ...{ attempt: z.number(), outcome: z.string(), endedAt: z.number(), error: z.string().optional() },
        ...{ startedAt: z.number().optional(), account: z.unknown().optional() },
      }),
    )
    .optional(),
  timeline: z.unknown().optional(),
  specs: z.unknown().optional(),
  /** Logs may be kept beside it. */
  logs: z.boolean().optional(),
  memory: z.unknown(),
});

export type RecordView = z.infer<typeof shape>;

export type RecordRead =
  | { readonly is: "record"; readonly record: RecordView }
  | { readonly is: "none"; readonly why: string }
  | { readonly is: "unreadable"; readonly error: string };

const read = (spec: unknown): RecordRead => {
  const parsed = shape.safeParse(spec);
  if (parsed.success) return { is: "record", record: parsed.data };
  const error = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; ");
  return { is: "unreadable", error };
};

/** The record that a `Checkpoint` holds; undefined where it does not parse. */
export const recordView = (spec: unknown): RecordView | undefined => {
  const found = read(spec);
  return found.is === "record" ? found.record : undefined;
};

/** Turns 404 and 403 into an answer: the output is then made from the object alone. */
const refusal = (cause: unknown): RecordRead => {
  if (cause instanceof ApiError && (cause.status === 404 || cause.status === 403)) {
    return { is: "none", why: cause.message };
  }
  throw cause;
};

/** The command that deletes an unusable record. The next step then makes it again from the object's status and pods. */
export const removalCommand = ({ table }: Pick<Source, "table">, key: Key): string => {
  if (table !== undefined) {
    const item = JSON.stringify(itemKey(table.cluster, key));
    return `aws dynamodb delete-item --table-name ${table.name} --key '${item}'`;
  }
  const { resource, namespace, name } = checkpointRef(key, "rekindle");
  return `kubectl delete ${resource.plural}.${resource.group} -n ${namespace} ${name}`;
};

const itemOf = async ({ name, cluster, records }: ReadTable, key: Key): Promise<RecordRead> => {
  const loaded = await records.load(key);
  if (loaded !== undefined) return read(loaded.record);
  return { is: "none", why: `there is none in the table ${name} of the cluster ${cluster}` };
};

const objectOf = async ({ transport }: Pick<Source, "transport">, key: Key): Promise<RecordRead> => {
  try {
    const { value } = await openCluster(transport).get(checkpointRef(key, "rekindle"));
    return value === undefined ? { is: "none", why: "there is none" } : read(value.spec);
  } catch (cause) {
    return refusal(cause);
  }
};

/** Reads the record of one application. An error of the table is thrown: the user said that records are there. */
export const recordOf = (source: Source, key: Key): Promise<RecordRead> =>
  source.table === undefined ? objectOf(source, key) : itemOf(source.table, key);

const idOf = (namespace: string, name: string): string => `${namespace}/${name}`;

/** The key of a record in the map of `recordsIn`. */
export const recordId = (key: Key): string => {
  const { namespace = "", name } = checkpointRef(key, "rekindle");
  return idOf(namespace, name);
};

/** Yields the stored records, each with its `recordId`. */
async function* keptIn(
  { transport, table }: Pick<Session, "transport" | "table">,
  namespace: string,
): AsyncGenerator<readonly [string, unknown]> {
  if (table !== undefined) {
    for await (const { key, record } of table.records.all(namespace === "" ? [] : [namespace]))
      yield [recordId({ cluster: table.cluster, ...key }), record];
    return;
  }
  for await (const page of pages(transport, { resource: checkpointResource, namespace })) {
    for (const { metadata, spec } of page.items) yield [idOf(metadata.namespace ?? "", metadata.name), spec];
  }
}

/** All records of a namespace, or of all, by `recordId`. */
export const recordsIn = async (
  session: Pick<Session, "transport" | "table">,
  namespace: string,
): Promise<ReadonlyMap<string, RecordView>> => {
  const records = new Map<string, RecordView>();
  try {
    for await (const [id, kept] of keptIn(session, namespace)) {
      const found = read(kept);
      if (found.is === "record") records.set(id, found.record);
    }
  } catch (cause) {
    if (session.table !== undefined) throw cause;
    refusal(cause);
  }
  return records;
};

const historyShape = z.object({
  history: z.array(z.object({ phase: z.string(), attempt: z.number(), at: z.number() })),
});

/** Of a Volcano job: the latest entry into each phase. */
const entries = z.object({
  conditions: z.array(z.object({ phase: z.string(), at: z.number() })),
  retryCount: z.number(),
});

export type StateChange = { readonly state: string; readonly attempt: number; readonly at: string };

/** The latest states, oldest first; empty where the record keeps none. */
export const historyOf = (record: RecordView | undefined): readonly StateChange[] => {
  const read = historyShape.safeParse(record?.memory);
  const entered = entries.safeParse(record?.memory);
  if (entered.success) {
    const { conditions, retryCount } = entered.data;
    return conditions.map(({ phase, at }) => ({ state: phase, attempt: retryCount + 1, at: timeText(at) }));
  }
  if (!read.success) return [];
  return read.data.history.map(({ phase, attempt, at }) => ({ state: phase, attempt, at: timeText(at) }));
};

/** One line: the latest six states with their times of day. */
export const historyText = (passages: readonly StateChange[]): string =>
  passages
    .slice(-6)
    .map(({ state, at }) => `${state} ${at.slice(11, 19)}`)
    .join(" → ");

const lossesShape = z.object({
  executors: z.object({
    lost: z.record(z.string(), z.number()).default({}),
    losses: z
      .array(
        z.object({
          id: z.number(),
          uid: z.string(),
          pod: z.string().optional(),
          reason: z.string(),
          node: z.string().optional(),
          exitCode: z.number().optional(),
          why: z.string().optional(),
          at: z.number(),
        }),
      )
      .default([]),
  }),
});

type Loss = Omit<z.infer<typeof lossesShape>["executors"]["losses"][number], "at"> & { readonly at: string };

type Losses = {
  /** Number of losses by reason. */
  readonly lost: Readonly<Record<string, number>>;
  /** The latest losses in the record, oldest first. */
  readonly losses: readonly Loss[];
};

/** The losses of the newest run; undefined where the record keeps none. */
export const lossesOf = (record: RecordView | undefined): Losses | undefined => {
  const read = lossesShape.safeParse(record?.memory);
  if (!read.success) return undefined;
  const { lost, losses } = read.data.executors;
  return { lost, losses: losses.map((loss) => ({ ...loss, at: timeText(loss.at) })) };
};

const lastText = ({ id, reason, exitCode, node, at, why }: Loss): string => {
  const details = [exitCode === undefined ? undefined : `exit ${exitCode}`, node, why].filter(Boolean);
  return `executor ${id} ${reason}${details.length === 0 ? "" : ` (${details.join("; ")})`} ${at.slice(11, 19)}`;
};

/** Reasons of ends that are no loss: the application had no more use for the executor. */
export const plannedEnds: readonly string[] = ["finished", "removed", "dismissed", "driverEnded"];

const unplanned = ({ lost }: Pick<Losses, "lost">): readonly (readonly [reason: string, count: number])[] =>
  Object.entries(lost).filter(([reason]) => !plannedEnds.includes(reason));

/** The number of lost executors, of which a record keeps only the latest in full. */
export const lostCount = (losses: Pick<Losses, "lost"> | undefined): number =>
  losses === undefined ? 0 : unplanned(losses).reduce((sum, [, count]) => sum + count, 0);

/** One line, such as `3 of 4 run, 1 lost`; "" where none can run now. */
export const executorsText = ({ running, wanted, lost }: Partial<ExecutorCount> & Pick<Losses, "lost">): string => {
  if (running === undefined) return "";
  const count = lostCount({ lost });
  return `${running}${wanted === undefined ? "" : ` of ${wanted}`} run${count === 0 ? "" : `, ${count} lost`}`;
};

/** One line: the counts by reason, and the latest loss. */
export const lossesText = ({ lost, losses }: Losses): string => {
  const counts = unplanned({ lost }).map(([reason, count]) => `${count} ${reason}`);
  const last = losses.at(-1);
  return [...(counts.length === 0 ? [] : [counts.join(", ")]), ...(last === undefined ? [] : [lastText(last)])].join(
    "; the last: ",
  );
};

const count = z.number().nonnegative();
const wordsShape = z.object({
  executors: z.object({
    attempt: count,
    care: z.object({
      pulse: z.object({
        at: count,
        tasks: count,
        words: z.object({ executors: count, running: count, failed: count, shuffle: count, heap: count }),
      }),
    }),
  }),
});

type DriverWords = z.infer<typeof wordsShape>["executors"]["care"]["pulse"]["words"] & {
  /** The number of ended tasks. */
  readonly ended: number;
  readonly at: string;
  readonly attempt: number;
};

/** The last answer of the newest run's driver that the record keeps; undefined where it keeps none. */
export const driverWordsOf = (record: RecordView | undefined): DriverWords | undefined => {
  const { data } = wordsShape.safeParse(record?.memory);
  if (data === undefined) return undefined;
  const { attempt, care } = data.executors;
  const { words, tasks, at } = care.pulse;
  return { ...words, ended: tasks, at: timeText(at), attempt };
};

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`;

/** One line: the executors and tasks that the driver reported, its shuffle data, and the largest heap. */
export const driverWordsText = ({ executors, running, ended, failed, shuffle, heap, at }: DriverWords): string =>
  [
    `${at.slice(11, 19)}: ${counted(executors, "executor")}`,
    `${counted(running, "task")} running, ${ended} ended, ${failed} failed`,
    `${mebibytes(shuffle)} of shuffle data written`,
    ...(heap > 0 ? [`largest heap ${mebibytes(heap)}`] : []),
  ].join("; ");

/** The cursor of a delivery. One of another form is not shown. */
const cursor = z.object({
  stream: z.string(),
  acknowledged: z.number(),
  outstanding: z.object({ tries: z.number(), nextAt: z.number(), error: z.string().optional() }).optional(),
});

export type Updates = {
  /** Number of updates that are not acknowledged. */
  readonly waiting: number;
  /** Instant of the oldest of them. */
  readonly since: string;
  readonly tries: number;
  readonly error: string | undefined;
  readonly next: string | undefined;
};

/** The waiting updates; undefined without a listener. */
export const updatesOf = (record: RecordView | undefined, delivery: RecordView | undefined): Updates | undefined => {
  const { outbox } = record ?? {};
  if (outbox === undefined) return undefined;
  const { data } = cursor.safeParse(delivery?.memory);
  const position: Position | undefined =
    data === undefined ? undefined : { stream: data.stream, sequence: data.acknowledged };
  const left = waiting(outbox, position);
  const out = left.length === 0 || data?.stream !== outbox.stream ? undefined : data.outstanding;
  return {
    waiting: left.length,
    since: timeText(left[0]?.at ?? outbox.entries.at(-1)?.at ?? 0),
    tries: out?.tries ?? 0,
    error: out?.error,
    next: out === undefined ? undefined : timeText(out.nextAt),
  };
};

/** One line; "" when nothing waits. */
export const updatesText = (updates: Updates | undefined, now: number): string => {
  if (updates === undefined || updates.waiting === 0) return "";
  const { waiting: left, since, tries, error, next } = updates;
  const last = error === undefined ? "" : `; after ${tries} tries: ${error}`;
  const again = next === undefined ? "" : `; next try ${whenText(Date.parse(next), now)}`;
  return `${left} not acknowledged since ${whenText(Date.parse(since), now)}${last}${again}`;
};
