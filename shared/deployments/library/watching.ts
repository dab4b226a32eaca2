/** The forwarder under virtual time: its real pure parts, which get changes from the store instead of a stream. */
import type { Stored } from "../../core/object.ts";
import type { Watcher } from "../../core/operator.ts";
import { openWholeObjects, type WholeObjects } from "../../forward/enclosures.ts";
import type { Forwarder } from "../../forward/forwarder.ts";
import {
  isWatched,
  type Change as Known,
  openObjectCache,
  type Sending,
  sendingsOf,
  subjectsOf,
} from "../../forward/keys.ts";
import { selectorOf } from "../../kube/selector.ts";
import { tableOf } from "../../simulator/schema/kinds.ts";
import type { Change, Store } from "../../simulator/storage/store.ts";
import { fieldSelector } from "../../simulator/verbs/read.ts";

export type Watching = {
  /** The sendings of one change of the store. */
  readonly hear: (change: Change) => readonly Sending[];
  /** Whether any watch reports the change. */
  readonly tells: (change: Change) => boolean;
  /** The cache of a host. */
  readonly known: Forwarder["known"];
  /** The objects as the server gave them, beside the trimmed ones. */
  readonly whole: WholeObjects["whole"];
  /**
   * The objects of each watch, in no order: a list tells lost objects by name. The greatest version that a watch has
   * heard is read by the steps of a host only, whose state has no digest.
   */
  readonly state: () => readonly (readonly Stored[])[];
  /** Lists everything anew; only differences give sendings. */
  readonly relist: () => readonly Sending[];
};

const isStored = (item: object): item is Stored => "apiVersion" in item && "kind" in item;

/** Returns an object of the simulator as a client reads it. */
export const stored = (item: Change["object"]): Stored => {
  if (!isStored(item)) throw new Error("the simulator holds an object without a kind");
  return item;
};

const nameIn = (change: Known): string => {
  const { namespace = "", name } = (change.after ?? change.before).metadata;
  return `${namespace}/${name}`;
};

const byName = (a: Known, b: Known): number => (nameIn(a) < nameIn(b) ? -1 : 1);

/** Opens watches that know nothing yet; `cluster` is the alias in keys. */
export const openWatching = (cluster: string, watchers: readonly Watcher[], store: Store): Watching => {
  const objects = openWholeObjects(() => true);
  const loops = subjectsOf(watchers).map((subject) => ({
    subject,
    table: tableOf(subject.resource),
    selects: selectorOf(subject.selector ?? "") ?? (() => false),
    shows: fieldSelector(tableOf(subject.resource), subject.field ?? ""),
    known: openObjectCache(subject.trim),
    /** The greatest version heard, as the server's store counts them. */
    at: { version: 0 },
  }));
  type Loop = (typeof loops)[number];
  const sendings = ({ subject }: Loop, changes: readonly Known[]): readonly Sending[] =>
    changes.flatMap((change) => sendingsOf(cluster, subject, change));
  const selected = ({ selects, shows }: Loop, object: Change["object"] | undefined): boolean =>
    object !== undefined && selects(object.metadata.labels ?? {}) && shows(object);
  /** An object that a selector stops selecting is deleted for its watch. */
  const told = (loop: Loop, { type, object, before }: Change): readonly Known[] => {
    loop.at.version = Math.max(loop.at.version, Number(object.metadata.resourceVersion));
    if (type !== "DELETED" && selected(loop, object)) {
      objects.see(stored(object));
      return loop.known.seen(stored(object));
    }
    return selected(loop, before) ? loop.known.gone(stored(object)) : [];
  };
  return {
    tells: ({ table, object, before }) =>
      loops.some((loop) => loop.table === table && (selected(loop, object) || selected(loop, before))),
    hear: (change) =>
      loops.filter(({ table }) => table === change.table).flatMap((loop) => sendings(loop, told(loop, change))),
    known: ({ kind, resource }) => {
      const loop = loops.find(({ subject }) => isWatched(subject, { kind, resource }));
      return loop === undefined ? undefined : { ...loop.known, reached: () => String(loop.at.version) };
    },
    whole: objects.whole,
    state: () => loops.map(({ known }) => [...known.values()]),
    relist: () =>
      loops.flatMap((loop) => {
        const listing = loop.known.begin();
        const listed = store.list(loop.table).filter((object) => selected(loop, object));
        loop.at.version = store.revision();
        for (const object of listed) objects.see(stored(object));
        const changes = listed.flatMap((object) => listing.see(stored(object)));
        return sendings(loop, [...changes, ...listing.end().toSorted(byName)]);
      }),
  };
};
