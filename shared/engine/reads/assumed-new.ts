/**
 * What has just been created has no record yet, most likely, so its record is not read: the first save, which succeeds only
 * where there is none, finds out. That is one request less in the life of every application.
 */
import { same } from "../../core/json.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import { dateAt } from "../../core/time.ts";
import { type FirstRead, type Observation, objectRef } from "../observation.ts";
import type { World } from "../world.ts";

/** True of an object without a status: it has no record, unless a step died on the way to its first status. */
export const seemsNew = ({ metadata, ...object }: Stored): boolean =>
  metadata.deletionTimestamp === undefined && same(object["status"] ?? {}, {});

/** So long two clocks are trusted to go alike. */
const longestCarriedMs = 60_000;

const assumed = (object: Stored, now: number, cached: Pick<Observation, "cachedAt">): FirstRead => ({
  see: "observation",
  observation: {
    ...{ object, successor: false, uid: object.metadata.uid, record: undefined, version: undefined, memory: undefined },
    ...{ now, assumedNew: true, returning: undefined, ...cached },
  },
});

/** The new object as it was watched to appear, where what is watched is enough to begin with. */
const watchedNew = ({ cache, clock }: World, key: Key, { watchful }: Operator<unknown>): FirstRead | undefined => {
  const appeared = watchful === true ? cache?.appeared(key) : undefined;
  if (appeared === undefined || !seemsNew(appeared.object)) return undefined;
  const now = clock.monotonic();
  const { object, epoch } = appeared;
  return now - epoch.at > longestCarriedMs ? undefined : assumed(object, dateAt(epoch, now), { cachedAt: epoch });
};

/** The observation of an object that seems new; undefined where it does not, or is not there: then all is to be read. */
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
