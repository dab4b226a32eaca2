/**
 * Begins the step of a new object without reading its record: the step assumes that there is none, and its first save
 * succeeds only if that is true. This saves one request for every application.
 */
import { same } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import { dateAt } from "../../core/time.ts";
import { type FirstRead, type Observation, objectRef } from "../context/observation.ts";
import type { World } from "../context/world.ts";

/** True of an object without a status. It has no record, unless a step died before it wrote the first status. */
export const seemsNew = ({ metadata, ...object }: Stored): boolean =>
  metadata.deletionTimestamp === undefined && same(object["status"] ?? {}, {});

/** Age of a cached server time up to which two clocks are trusted to run alike, ms. */
const longestCarriedMs = 60_000;

const assumed = (object: Stored, now: number, cached: Pick<Observation, "cachedAt">): FirstRead => ({
  see: "observation",
  observation: {
    ...{ object, successor: false, uid: object.metadata.uid, record: undefined, version: undefined, memory: undefined },
    ...{ now, assumedNew: true, returning: undefined, ...cached },
  },
});

/** Returns the new object as the watch has shown it, if its kind may begin with watched objects. */
const watchedNew = ({ cache, clock }: World, key: Key, { watchful }: Operator<unknown>): FirstRead | undefined => {
  const appeared = watchful === true ? cache?.appeared(key) : undefined;
  if (appeared === undefined || !seemsNew(appeared.object)) return undefined;
  const now = clock.monotonic();
  const { object, epoch } = appeared;
  return now - epoch.at > longestCarriedMs ? undefined : assumed(object, dateAt(epoch, now), { cachedAt: epoch });
};

/**
 * Returns the observation of an object that seems new; undefined if it does not or is missing, and the step must read
 * live.
 */
export const assumeNew = async (
  world: World,
  key: Key,
  operator: Operator<unknown>,
): Promise<FirstRead | undefined> => {
  const watched = watchedNew(world, key, operator);
  if (watched !== undefined) return watched;
  const { value: object, date } = await world.cluster.get(objectRef(key, operator));
  return object !== undefined && seemsNew(object) ? assumed(object, date, {}) : undefined;
};
