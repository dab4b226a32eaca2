/**
 * The simulator's etcd: immutable objects under keys, one counter of revisions, and the log of changes that watches
 * read. A snapshot shares everything, and a table is copied only at its next write.
 */

import type { Item } from "./metadata.ts";

export type Change = {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly table: string;
  readonly revision: number;
  /** The object after the change; of a deleted object its last state under the revision of its deletion. */
  readonly object: Item;
  readonly before: Item | undefined;
};

/** `sorted` is never altered in place: it may be shared with a snapshot or be in a reader's hands. */
type Table = { readonly items: Map<string, Item>; readonly epoch: number; sorted: readonly Item[] | undefined };

export type StoreState = {
  readonly revision: number;
  readonly compacted: number;
  readonly tables: ReadonlyMap<string, Table>;
  readonly log: readonly Change[];
  readonly length: number;
};

export type Store = {
  /** The newest revision. */
  revision(): number;
  /** Changes up to this revision are dropped. */
  compacted(): number;
  get(table: string, key: string): Item | undefined;
  /** All objects of a table by key. */
  list(table: string): readonly Item[];
  tables(): readonly string[];
  /** Stores an object under the next revision and returns the stored object. */
  put(table: string, object: Item): Item;
  remove(table: string, key: string): Item | undefined;
  /** Changes later than a revision, oldest first. */
  since(revision: number): readonly Change[];
  /** A table as it was at a revision that is not yet compacted. */
  listAt(table: string, revision: number): readonly Item[];
  compact(revision: number): void;
  /** Called synchronously after every change. */
  subscribe(listener: (change: Change) => void): () => void;
  snapshot(): StoreState;
  restore(state: StoreState): void;
};

export const keyOf = (namespace: string | undefined, name: string): string =>
  namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;

const keyOfObject = (object: Item): string => keyOf(object.metadata.namespace, object.metadata.name);

const underRevision = (object: Item, revision: number): Item => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(revision) },
});

const byKey = (items: ReadonlyMap<string, Item>): readonly Item[] =>
  [...items].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);

/** The index of a key in a sorted list, or the index at which it would be. */
const placeOf = (sorted: readonly Item[], key: string): number => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = sorted[middle];
    if (item !== undefined && keyOfObject(item) < key) low = middle + 1;
    else high = middle;
  }
  return low;
};

const firstAfter = (log: readonly Change[], revision: number): number => {
  let low = 0;
  let high = log.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((log[middle]?.revision ?? 0) <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
};

const undone = (now: ReadonlyMap<string, Item>, changes: readonly Change[]): ReadonlyMap<string, Item> => {
  const items = new Map(now);
  for (const { object, before } of changes.toReversed()) {
    if (before === undefined) items.delete(keyOfObject(object));
    else items.set(keyOfObject(before), before);
  }
  return items;
};

const none: ReadonlyMap<string, Item> = new Map();

/** The mutable state, and whether a snapshot still shares the log. */
type Inside = {
  revision: number;
  compacted: number;
  epoch: number;
  tables: Map<string, Table>;
  log: Change[];
  logShared: boolean;
};

const writable = (inside: Inside, name: string): Table => {
  const table = inside.tables.get(name);
  if (table?.epoch === inside.epoch) return table;
  const copy: Table = { items: new Map(table?.items), epoch: inside.epoch, sorted: table?.sorted };
  inside.tables.set(name, copy);
  return copy;
};

const append = (inside: Inside, change: Change): void => {
  if (inside.logShared) {
    inside.log = inside.log.slice();
    inside.logShared = false;
  }
  inside.log.push(change);
};

const list = (inside: Inside, name: string): readonly Item[] => {
  const table = inside.tables.get(name);
  if (table === undefined) return [];
  table.sorted ??= byKey(table.items);
  return table.sorted;
};

const put = (inside: Inside, name: string, object: Item): Change => {
  const table = writable(inside, name);
  inside.revision += 1;
  const stored = underRevision(object, inside.revision);
  const before = table.items.get(keyOfObject(stored));
  const key = keyOfObject(stored);
  table.items.set(key, stored);
  if (table.sorted !== undefined) {
    const i = placeOf(table.sorted, key);
    table.sorted = before === undefined ? table.sorted.toSpliced(i, 0, stored) : table.sorted.with(i, stored);
  }
  const type = before === undefined ? "ADDED" : "MODIFIED";
  return { type, table: name, revision: inside.revision, object: stored, before };
};

const remove = (inside: Inside, name: string, key: string): Change | undefined => {
  const before = inside.tables.get(name)?.items.get(key);
  if (before === undefined) return undefined;
  const table = writable(inside, name);
  table.items.delete(key);
  table.sorted = table.sorted?.toSpliced(placeOf(table.sorted, key), 1);
  inside.revision += 1;
  const object = underRevision(before, inside.revision);
  return { type: "DELETED", table: name, revision: inside.revision, object, before };
};

const compact = (inside: Inside, revision: number): void => {
  inside.compacted = Math.max(inside.compacted, Math.min(revision, inside.revision));
  inside.log = inside.log.slice(firstAfter(inside.log, inside.compacted));
  inside.logShared = false;
};

const restore = (inside: Inside, state: StoreState): void => {
  inside.revision = state.revision;
  inside.compacted = state.compacted;
  inside.epoch += 1;
  inside.tables = new Map(state.tables);
  inside.log = state.log.slice(0, state.length);
  inside.logShared = false;
};

const snapshot = (inside: Inside): StoreState => {
  inside.epoch += 1;
  inside.logShared = true;
  const { revision, compacted, log } = inside;
  return { revision, compacted, tables: new Map(inside.tables), log, length: log.length };
};

const listAt = (inside: Inside, name: string, revision: number): readonly Item[] => {
  if (revision >= inside.revision) return list(inside, name);
  const later = inside.log.slice(firstAfter(inside.log, revision)).filter(({ table }) => table === name);
  return later.length === 0 ? list(inside, name) : byKey(undone(inside.tables.get(name)?.items ?? none, later));
};

export const openStore = (): Store => {
  const inside: Inside = { revision: 1, compacted: 0, epoch: 0, tables: new Map(), log: [], logShared: false };
  const listeners = new Set<(change: Change) => void>();
  const untold: Change[] = [];
  let telling = false;
  const tell = (): void => {
    if (telling) return;
    telling = true;
    try {
      for (let next = untold.shift(); next !== undefined; next = untold.shift())
        for (const listener of listeners) listener(next);
    } finally {
      telling = false;
    }
  };
  /** If a listener writes, its change is reported after the one that it is hearing. */
  const commit = (change: Change): void => {
    append(inside, change);
    untold.push(change);
    tell();
  };
  return {
    revision: () => inside.revision,
    compacted: () => inside.compacted,
    get: (table, key) => inside.tables.get(table)?.items.get(key),
    list: (table) => list(inside, table),
    tables: () => [...inside.tables.keys()],
    put: (table, object) => {
      const change = put(inside, table, object);
      commit(change);
      return change.object;
    },
    remove: (table, key) => {
      const change = remove(inside, table, key);
      if (change !== undefined) commit(change);
      return change?.object;
    },
    since: (revision) => inside.log.slice(firstAfter(inside.log, revision)),
    listAt: (table, revision) => listAt(inside, table, revision),
    compact: (revision) => compact(inside, revision),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    snapshot: () => snapshot(inside),
    restore: (state) => restore(inside, state),
  };
};
