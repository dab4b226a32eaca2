/**
 * Encloses the object of a key and the lists of its operator in a call, as the watches show them: only for messages of
 * these watches, only while the watches are complete, and only up to a size. The latest objects are kept whole, as the
 * watch has sent them, beside the forwarder's trimmed ones; their number is bounded, so an object that has not changed
 * for long may be missing.
 */
import { forgetOldest } from "../core/cache.ts";
import type { Message } from "../core/key.ts";
import type { Stored, StoredMetadata } from "../core/object.ts";
import type { Watcher } from "../core/operator.ts";
import type { Listing } from "../core/plan.ts";
import { dateAt, type Epoch } from "../core/time.ts";
import type { Enclosure } from "../engine/ports.ts";
import { labelOf } from "../kube/pods.ts";
import type { Forwarder } from "./forwarder.ts";

export type WholeObjects = {
  /** Takes in an object of a watch. */
  see(object: Stored): void;
  /** Takes in a deletion. */
  gone(object: Stored): void;
  /** Returns the object of which this is the trimmed form, in the same version; undefined if it is not known whole. */
  whole(trimmed: Stored): Stored | undefined;
};

const most = 1_000;

/** Returns the object without the managers of its fields, which no decision reads. */
const lean = (object: Stored): Stored => {
  const { managedFields: _, ...metadata }: StoredMetadata & { readonly managedFields?: unknown } = object.metadata;
  return { ...object, metadata };
};

/** Opens an empty store of the objects that `keeps` chooses. */
export const openWholeObjects = (keeps: (object: Stored) => boolean): WholeObjects => {
  const objects = new Map<string, Stored>();
  return {
    see: (object) => {
      if (!keeps(object)) return;
      objects.delete(object.metadata.uid);
      objects.set(object.metadata.uid, lean(object));
      forgetOldest(objects, most);
    },
    gone: ({ metadata: { uid } }) => void objects.delete(uid),
    whole: ({ metadata: { uid, resourceVersion } }) => {
      const object = objects.get(uid);
      return object?.metadata.resourceVersion === resourceVersion ? object : undefined;
    },
  };
};

/** The largest enclosure as JSON, characters. A larger one is left out, and the step reads. */
export const longestEnclosure = 65_536;

type Settings = {
  readonly watchers: readonly Watcher[];
  readonly known: Forwarder["known"];
  readonly whole: WholeObjects["whole"];
  /** Returns the latest reading of the API server's clock; undefined: none is recent enough. */
  readonly serverTime: () => Epoch | undefined;
  /** Monotonic, ms. */
  readonly now: () => number;
};

export type Enclosing = (messages: readonly Message[]) => Enclosure | undefined;

/** Returns all objects as `whole` knows them; undefined if it lacks one. */
const allWhole = (trimmed: readonly Stored[], whole: WholeObjects["whole"]): readonly Stored[] | undefined => {
  const objects = trimmed.map(whole).filter((object) => object !== undefined);
  return objects.length === trimmed.length ? objects : undefined;
};

const listed = (
  { known, whole }: Settings,
  kind: string,
  { resource, namespace, labels }: Listing,
): readonly Stored[] | undefined => {
  const seen = known({ kind, resource, namespace });
  if (seen?.reached() === undefined) return undefined;
  const wanted = Object.entries(labels);
  const found = [...seen.values()].filter(
    (object) =>
      object.metadata.namespace === namespace && wanted.every(([name, value]) => labelOf(object, name) === value),
  );
  return allWhole(found, whole);
};

/** True of an enclosure that a call may hold. */
const isShort = (enclosure: Enclosure): boolean => JSON.stringify(enclosure).length <= longestEnclosure;

/** Opens enclosing. The messages are those of one key. */
export const openEnclosing =
  (settings: Settings): Enclosing =>
  (messages) => {
    const [first] = messages;
    const watcher = settings.watchers.find(({ kind }) => kind === first?.kind);
    const epoch = settings.serverTime();
    if (first === undefined || watcher?.encloses === undefined || epoch === undefined) return undefined;
    // A resync, a trigger and a retry ask for live reads.
    if (!messages.every(({ watched, tries }) => watched === true && tries === undefined)) return undefined;
    const { kind, namespace, name } = first;
    const { resource } = watcher;
    const seen = settings.known({ kind, resource, namespace });
    const trimmed = seen?.reached() === undefined ? undefined : seen.get(namespace, name);
    const object = trimmed === undefined ? undefined : settings.whole(trimmed);
    const lists = watcher.encloses(first).map((listing) => listed(settings, kind, listing));
    if (object === undefined || !lists.every((list) => list !== undefined)) return undefined;
    const enclosure = { date: dateAt(epoch, settings.now()), object, lists };
    return isShort(enclosure) ? enclosure : undefined;
  };
