/**
 * Encloses the object of a key and the lists of its operator in a call, as the watches show them: only for messages of
 * these watches, only while the watches are complete, and only up to a size.
 */
import type { Message } from "../core/key.ts";
import type { Stored } from "../core/object.ts";
import type { Listing } from "../core/plan.ts";
import { dateAt, type Epoch } from "../core/time.ts";
import type { Enclosure } from "../engine/ports.ts";
import { labelOf } from "../kube/pods.ts";
import type { Forwarder } from "./forwarder.ts";
import type { Watcher } from "./keys.ts";
import type { WholeObjects } from "./whole-objects.ts";

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
