/**
 * The first read of a step whose call encloses its object and lists. An enclosure stands for a live read of the moment
 * at which the dispatcher looked, so it is believed only for a few seconds, and only for a message from the watch.
 */
import { apiVersionOf, type Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Listing } from "../../core/plan.ts";
import type { Epoch } from "../../core/time.ts";
import { classify } from "../checkpoint/classify.ts";
import type { FirstRead, Observation, StepContext } from "../context/world.ts";
import type { Enclosure } from "../ports.ts";
import { recoveryOf } from "../settings.ts";
import { readsLive, seemsNew } from "./live.ts";

/** The age up to which an enclosure is believed, ms: as old as a step's first read may be when it creates a driver. */
const oldestMs = 4_000;
/** The longest that the two clocks may disagree, ms: both follow the server's `Date`, in whole seconds. */
const skewMs = 2_000;
/** The age of a reading of the server's clock up to which this process's clock is trusted to run alike, ms. */
const longestSinceMs = 60_000;

/**
 * Returns the monotonic time at which a dispatcher looked; undefined if the enclosure is too old, or if this process
 * cannot tell. `server`: this process's own latest reading of the server's clock.
 */
const lookedAt = ({ date }: Enclosure, server: Epoch | undefined, monotonic: number): number | undefined => {
  if (server === undefined || monotonic - server.at > longestSinceMs) return undefined;
  const ageMs = server.date + (monotonic - server.at) - date;
  return ageMs > oldestMs || ageMs < -skewMs ? undefined : monotonic - Math.max(0, ageMs);
};

/** True if the object may be an answer to the list. */
const answers = ({ resource, namespace, labels }: Listing, { apiVersion, kind, metadata }: Stored): boolean =>
  apiVersion === apiVersionOf(resource) &&
  kind === resource.kind &&
  metadata.namespace === namespace &&
  Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value);

type EnclosedCall = Pick<StepContext, "world" | "message" | "operator">;

/** True if the enclosure is about the key, and its lists are answers to the lists that the operator `encloses`. */
const isAbout = (
  message: EnclosedCall["message"],
  { resource, encloses }: Operator<unknown>,
  { object, lists }: Enclosure,
): boolean => {
  const { namespace, name } = message;
  const listings = encloses?.(message);
  return (
    listings !== undefined &&
    listings.length === lists.length &&
    answers({ do: "list", resource, namespace, labels: {} }, object) &&
    object.metadata.name === name &&
    listings.every((listing, at) => lists[at]?.every((one) => answers(listing, one)) === true)
  );
};

/** Returns the enclosure of a step that may begin with it; undefined: it must read live. */
const enclosureFor = ({ world, message, operator }: EnclosedCall): Enclosure | undefined => {
  if (message.tries !== undefined || world.shadow !== undefined) return undefined;
  const enclosure = world.enclosed?.(message);
  return enclosure !== undefined && isAbout(message, operator, enclosure) ? enclosure : undefined;
};

/** Returns the observation of a step that begins with its enclosure; undefined: it must read live. */
export const readEnclosed = async (call: EnclosedCall): Promise<FirstRead | undefined> => {
  const { world, message, operator } = call;
  const enclosure = enclosureFor(call);
  if (enclosure === undefined) return undefined;
  const at = lookedAt(enclosure, world.serverTime?.(), world.clock.monotonic());
  const { object, date: now } = enclosure;
  if (at === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  const { uid } = object.metadata;
  const common = { object, successor: false, uid, now, returning: undefined, cachedAt: { date: now, at }, enclosure };
  const see = (rest: Pick<Observation, "record" | "version" | "memory" | "assumedNew">): FirstRead => ({
    see: "observation",
    observation: { ...common, ...rest },
  });
  if (message.fresh === true && seemsNew(object))
    return see({ record: undefined, version: undefined, memory: undefined, assumedNew: true });
  const loaded = await world.checkpoints.load(message);
  if (loaded === undefined) return undefined;
  const { clusterUid, timing } = world;
  const diagnosis = classify({ key: message, operator, settings: recoveryOf(world), clusterUid, timing }, loaded);
  if (diagnosis.is !== "sound") return undefined;
  const { record, memory } = diagnosis;
  const isCurrent = record.uid === uid && (object.metadata.generation ?? 0) >= (record.generation ?? 0);
  if (!isCurrent || readsLive(record)) return undefined;
  return see({ record, version: loaded.version, memory, assumedNew: false });
};
