/**
 * The rows of the page: each is projected when a watch hands its object over, so a viewer costs no request to the API
 * server. Every change has a revision; a reader asks for what changed after one.
 */
import { createHash, randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { hintOf } from "../../adapters/checkpoints/kubernetes.ts";
import { forgetOldest } from "../../core/cache.ts";
import type { Key } from "../../core/key.ts";
import type { Stored, StoredMetadata } from "../../core/object.ts";
import type { Rates } from "../../inspection/rates.ts";
import { type RecordView, recordId, recordView } from "../../inspection/record.ts";
import { countsOf, parse, select } from "../../page/query.ts";
import {
  type Batch,
  type Costs,
  columnsOf,
  type FirstRows,
  keyOf,
  type Lane,
  type QueueRow,
  type Row,
} from "../../page/wire.ts";
import { type CostBook, openCostBook } from "./costs.ts";
import { type Lanes, openLanes, recordedEnds } from "./lanes.ts";
import { type Projected, projected, queueFrom, type RecordOutline, recordOutline, rowFrom } from "./projection.ts";
import { type GroupUse, groupUseFrom, requestsOfPods, withUse } from "./queue-use.ts";

/** The most deletions that are remembered: a reader from before the oldest gets all rows anew. */
const mostGone = 4_096;

type Entry = {
  readonly uid: string;
  readonly outline: Projected;
  readonly row: Row;
  /** A number made of the row: equal rows have equal ones, in every process. */
  readonly print: number;
  readonly revision: number;
};

type Gone = { readonly key: string; readonly namespace: string; readonly revision: number };

/** The most changes of rows that are remembered: a reader from before the oldest makes the board look at all rows. */
const mostLogged = 20_000;

/** The most applications whose last change is remembered: tenants can name any application on a pod. */
const mostChanged = 20_000;

/** Called after a change; `application` names the one whose row, pods or record changed. */
type Listener = (application: string) => void;

export type Board = {
  /** Takes in an object as the server sent it. */
  see(object: Stored): void;
  /** Takes in a deletion; of the object only its metadata is used. */
  gone(object: Stored): void;
  /** Takes in a record that this process has saved; undefined: it is removed. */
  recorded(key: Key, record: unknown): void;
  /** Takes in records that other processes saved, by `recordId`; what this process saved itself is newer. */
  remember(records: ReadonlyMap<string, RecordView>): Promise<void>;
  /** All rows of these namespaces (empty: all), or what changed after `since`. */
  read(namespaces: readonly string[], since?: string): Batch;
  /** The beginning of the list that a filter shows of these namespaces. */
  first(namespaces: readonly string[], filter: string): FirstRows;
  /** Numbers the last change of any row or queue. */
  revision(): number;
  row(key: string): Row | undefined;
  lanes(key: string): readonly Lane[];
  /** Hours and money of these namespaces (empty: all), by namespace and day. */
  costs(namespaces: readonly string[]): Costs;
  /** Numbers the last change of one application: a detail of another number is read again. */
  changes(key: string): number;
  subscribe(listener: Listener): () => void;
  size(): number;
  /** The namespaces that have rows. */
  namespaces(): readonly string[];
};

const isCheckpoint = ({ kind, apiVersion }: Stored): boolean =>
  kind === "Checkpoint" && apiVersion.startsWith("rekindle.dev/");

const within = (namespaces: readonly string[], namespace: string): boolean =>
  namespaces.length === 0 || namespaces.includes(namespace);

const place = (namespace: string, name: string): string => `${namespace}/${name}`;

const sameRow = (a: Row, b: Row): boolean => JSON.stringify(a) === JSON.stringify(b);

/** 48 bits of a text's hash: sums of many stay exact. */
const printOf = (text: string): number => createHash("sha1").update(text).digest().readUIntBE(0, 6);
const printBound = 2 ** 48;

type State = {
  readonly epoch: string;
  readonly now: () => number;
  readonly entries: Map<string, Entry>;
  /** By namespace and name of the `Checkpoint`. */
  readonly records: Map<string, RecordOutline>;
  /** As their objects tell them. */
  readonly queues: Map<string, QueueRow>;
  /** By the UID of their PodGroups; undefined before the first was seen: this process may not be able to list them. */
  groups: Map<string, GroupUse> | undefined;
  /** The queues with what their groups use; undefined: to be summed up anew. */
  queueRows: readonly QueueRow[] | undefined;
  /** The revision of the newest change of a queue, or of its groups. */
  queuesAt: number;
  readonly changes: Map<string, number>;
  /** The number of the newest change of any application. */
  serial: number;
  readonly lanes: Lanes;
  readonly book: CostBook;
  readonly listeners: Set<Listener>;
  /** Changes of rows in their order; of a row there may be several. */
  log: { readonly revision: number; readonly key: string }[];
  gone: Gone[];
  /** The revision of the newest deletion that is no longer remembered. */
  forgotten: number;
  revision: number;
};

const tell = (state: State, application: string): void => {
  state.serial += 1;
  state.changes.delete(application);
  state.changes.set(application, state.serial);
  forgetOldest(state.changes, mostChanged);
  for (const listener of state.listeners) listener(application);
};

const recordOf = ({ records }: State, { kind, namespace, name }: Projected): RecordOutline | undefined =>
  records.get(recordId({ cluster: "", kind, namespace, name }));

/** Notes a change of a row. Half of a full log is dropped at once, so that a change costs little. */
const note = ({ log, revision }: State, key: string): void => {
  log.push({ revision, key });
  if (log.length > mostLogged) log.splice(0, mostLogged / 2);
};

/** The rows that have changed after a revision; undefined: all of them, or those that the log does not reach back to. */
const entriesAfter = ({ log, entries }: State, since: number | undefined): readonly Entry[] => {
  const [first] = log;
  if (since === undefined || first === undefined || first.revision > since + 1) return [...entries.values()];
  const at = log.findLastIndex(({ revision }) => revision <= since);
  const keys = new Set(log.slice(at + 1).map(({ key }) => key));
  return [...keys].flatMap((key) => entries.get(key) ?? []);
};

const put = (state: State, uid: string, outline: Projected): void => {
  const row = rowFrom(outline, recordOf(state, outline));
  const key = keyOf(row);
  const before = state.entries.get(key);
  const isSame = before?.uid === uid && sameRow(before.row, row);
  if (!isSame) state.revision += 1;
  const print = isSame ? before.print : printOf(JSON.stringify(row));
  state.entries.set(key, { uid, outline, row, print, revision: isSame ? before.revision : state.revision });
  if (!isSame) note(state, key);
  if (!isSame) tell(state, key);
};

const remove = (state: State, { uid }: StoredMetadata, outline: Projected): void => {
  const key = keyOf(outline);
  if (state.entries.get(key)?.uid !== uid) return;
  state.entries.delete(key);
  state.lanes.forget(key);
  state.book.gone(key);
  state.revision += 1;
  state.gone.push({ key, namespace: outline.namespace, revision: state.revision });
  const over = state.gone.length - mostGone;
  if (over > 0) state.forgotten = state.gone.splice(0, over).at(-1)?.revision ?? state.forgotten;
  tell(state, key);
  state.changes.delete(key);
};

/** Keeps the ends of executors in a record for the lanes of its application, and what its runs used. */
const putUsage = ({ lanes, book }: State, key: string, namespace: string, record: RecordView | undefined): void => {
  lanes.recorded(key, recordedEnds(record));
  book.recorded(key, namespace, record);
};

/** Takes in a record; undefined: it is gone. The row of its application follows, if the object is known. */
const putRecord = (state: State, object: Stored, record: RecordView | undefined): void => {
  const { namespace = "", name } = object.metadata;
  const at = place(namespace, name);
  if (record === undefined) state.records.delete(at);
  else state.records.set(at, recordOutline(record));
  const hint = hintOf(object.metadata);
  const key = hint === undefined ? "" : keyOf(hint);
  putUsage(state, key, namespace, record);
  const entry = state.entries.get(key);
  if (entry === undefined) return;
  put(state, entry.uid, entry.outline);
  tell(state, key);
};

const recorded = (state: State, key: Key, given: unknown): void => {
  const record = given === undefined ? undefined : recordView(given);
  if (record === undefined) state.records.delete(recordId(key));
  else state.records.set(recordId(key), recordOutline(record));
  const application = keyOf(key);
  putUsage(state, application, key.namespace, record);
  const entry = state.entries.get(application);
  if (entry === undefined) return;
  put(state, entry.uid, entry.outline);
  tell(state, application);
};

/** The most records that are taken in at once: ten thousand would hold up the process for more than a second. */
const atOnce = 500;

const remember = async (state: State, records: ReadonlyMap<string, RecordView>): Promise<void> => {
  const keys = new Map(
    [...state.entries].map(
      ([
        key,
        {
          outline: { kind, namespace, name },
        },
      ]) => [recordId({ cluster: "", kind, namespace, name }), key],
    ),
  );
  let taken = 0;
  for (const [id, record] of records) {
    if (state.records.has(id)) continue;
    state.records.set(id, recordOutline(record));
    const key = keys.get(id) ?? "";
    const entry = state.entries.get(key);
    if (entry === undefined) continue;
    putUsage(state, key, entry.outline.namespace, record);
    put(state, entry.uid, entry.outline);
    taken += 1;
    if (taken % atOnce === 0) await setImmediate();
  }
};

/** Notes a change of queues or of their groups: the next reader has them summed up. */
const noteQueues = (state: State): void => {
  state.revision += 1;
  state.queuesAt = state.revision;
  state.queueRows = undefined;
  tell(state, "");
};

const putQueue = (state: State, row: QueueRow): void => {
  if (JSON.stringify(state.queues.get(row.name)) === JSON.stringify(row)) return;
  state.queues.set(row.name, row);
  noteQueues(state);
};

const putGroup = (state: State, uid: string, use: GroupUse): void => {
  state.groups ??= new Map();
  if (JSON.stringify(state.groups.get(uid)) === JSON.stringify(use)) return;
  state.groups.set(uid, use);
  noteQueues(state);
};

/** The queues of the cluster with what their groups use. */
const queueRows = (state: State): readonly QueueRow[] => {
  state.queueRows ??= withUse([...state.queues.values()], state.groups, (owner) =>
    requestsOfPods(state.lanes.of(owner)),
  );
  return state.queueRows;
};

const tellIf = (state: State, application: string | undefined): void => {
  if (application !== undefined) tell(state, application);
};

const seen = (state: State, object: Stored): void => {
  if (object.kind === "Pod") {
    tellIf(state, state.lanes.see(object));
  } else if (isCheckpoint(object)) {
    putRecord(state, object, recordView(object.spec));
  } else {
    const queue = queueFrom(object);
    const group = groupUseFrom(object);
    const outline = projected(object);
    if (queue !== undefined) putQueue(state, queue);
    if (group !== undefined) putGroup(state, object.metadata.uid, group);
    if (outline !== undefined) put(state, object.metadata.uid, outline);
  }
};

const removeQueue = (state: State, { name }: QueueRow): void => {
  if (state.queues.delete(name)) noteQueues(state);
};

const left = (state: State, object: Stored): void => {
  if (object.kind === "Pod") {
    tellIf(state, state.lanes.gone(object, state.now()));
  } else if (isCheckpoint(object)) {
    putRecord(state, object, undefined);
  } else {
    const queue = queueFrom(object);
    const outline = projected(object);
    if (queue !== undefined) removeQueue(state, queue);
    if (state.groups?.delete(object.metadata.uid) === true) noteQueues(state);
    if (outline !== undefined) remove(state, object.metadata, outline);
  }
};

/** Returns the revision after which a reader wants changes; undefined where it needs all rows. */
const sinceOf = ({ epoch, revision, forgotten }: State, id: string | undefined): number | undefined => {
  const [of, text = ""] = id?.split("-") ?? [];
  if (of !== epoch || !/^\d{1,15}$/.test(text)) return undefined;
  const since = Number(text);
  return since >= forgotten && since <= revision ? since : undefined;
};

/** The tag of all rows and queues that a caller of these namespaces sees. */
const printOfAll = (state: State, namespaces: readonly string[]): string => {
  let sum = namespaces.length === 0 ? printOf(JSON.stringify(queueRows(state))) : 0;
  for (const { row, print } of state.entries.values())
    if (within(namespaces, row.namespace)) sum = (sum + print) % printBound;
  return sum.toString(36);
};

/** The parts of a batch that have changed after a revision, of some namespaces; undefined: all of them. */
const changedAfter = (state: State, namespaces: readonly string[], since: number | undefined) => {
  const isNews = (revision: number): boolean => since === undefined || revision > since;
  const entries = entriesAfter(state, since).filter(
    ({ row, revision }) => isNews(revision) && within(namespaces, row.namespace),
  );
  const gone = state.gone.filter(
    ({ revision, namespace }) => since !== undefined && revision > since && within(namespaces, namespace),
  );
  // Queues are of the whole cluster.
  const queuesAt = namespaces.length === 0 && isNews(state.queuesAt) ? state.queuesAt : undefined;
  return { entries, gone, queuesAt };
};

const read = (state: State, namespaces: readonly string[], id: string | undefined): Batch => {
  const since = sinceOf(state, id);
  const { entries, gone, queuesAt } = changedAfter(state, namespaces, since);
  // A caller of some namespaces is told the newest revision in them: it does not count the changes of others.
  const reached = [...entries, ...gone].reduce((most, { revision }) => Math.max(most, revision), since ?? 0);
  return {
    id: `${state.epoch}-${Math.max(reached, queuesAt ?? 0)}`,
    print: printOfAll(state, namespaces),
    now: state.now(),
    whole: since === undefined,
    columns: columnsOf(entries.map(({ row }) => row)),
    gone: gone.filter(({ key }) => !state.entries.has(key)).map(({ key }) => key),
    ...(queuesAt === undefined ? {} : { queues: queueRows(state) }),
  };
};

/** The most rows that are sent before all others: more than a screen shows. */
const mostFirst = 200;

const first = ({ entries, now }: State, namespaces: readonly string[], filter: string): FirstRows => {
  const rows = [...entries.values()].map(({ row }) => row).filter(({ namespace }) => within(namespaces, namespace));
  const [query, at] = [parse(filter), now()];
  const listed = select(rows, query, at / 1_000);
  const counts = countsOf(rows, query, at / 1_000);
  return { now: at, columns: columnsOf(listed.slice(0, mostFirst)), count: listed.length, counts };
};

const costs = ({ entries, lanes, book, now }: State, namespaces: readonly string[]): Costs => {
  const own = [...entries].filter(([, { row }]) => within(namespaces, row.namespace));
  return book.read(namespaces, new Map(own.map(([key]) => [key, lanes.of(key)])), now());
};

/** Opens an empty board. `rates` undefined: it tells no money. */
export const openBoard = (now: () => number, rates?: Rates): Board => {
  const state: State = {
    epoch: randomBytes(6).toString("hex"),
    now,
    ...{
      entries: new Map(),
      records: new Map(),
      queues: new Map(),
      groups: undefined,
      changes: new Map(),
      lanes: openLanes(),
    },
    queueRows: undefined,
    book: openCostBook(rates, now),
    ...{ listeners: new Set(), serial: 0, log: [], gone: [], forgotten: 0, revision: 0, queuesAt: 0 },
  };
  return {
    see: (object) => seen(state, object),
    gone: (object) => left(state, object),
    recorded: (key, record) => recorded(state, key, record),
    remember: (records) => remember(state, records),
    read: (namespaces, since) => read(state, namespaces, since),
    first: (namespaces, filter) => first(state, namespaces, filter),
    revision: () => state.revision,
    row: (key) => state.entries.get(key)?.row,
    lanes: state.lanes.of,
    costs: (namespaces) => costs(state, namespaces),
    changes: (key) => state.changes.get(key) ?? 0,
    subscribe: (listener) => {
      state.listeners.add(listener);
      return () => void state.listeners.delete(listener);
    },
    namespaces: () => [...new Set([...state.entries.values()].map(({ row }) => row.namespace))].sort(),
    size: () => state.entries.size,
  };
};
