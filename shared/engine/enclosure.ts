/**
 * An enclosure: the object of a key, and the lists that its operator `encloses`, as the watch of a dispatcher showed
 * them when it called this function. It stands for a live read of that moment, so it is believed only for a few seconds,
 * only for a message from the watch, and only for a plan that is `enclosureSafe`.
 */
import { same } from "../core/json.ts";
import { apiVersionOf, type Stored } from "../core/object.ts";
import type { Listing, Looking } from "../core/plan.ts";
import type { Epoch } from "../core/time.ts";
import type { Enclosure } from "./ports.ts";

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
export const lookedAt = ({ date }: Enclosure, server: Epoch | undefined, monotonic: number): number | undefined => {
  if (server === undefined || monotonic - server.at > longestSinceMs) return undefined;
  const ageMs = server.date + (monotonic - server.at) - date;
  return ageMs > oldestMs || ageMs < -skewMs ? undefined : monotonic - Math.max(0, ageMs);
};

/** True if the object may be an answer to the list. */
export const answers = ({ resource, namespace, labels }: Listing, { apiVersion, kind, metadata }: Stored): boolean =>
  apiVersion === apiVersionOf(resource) &&
  kind === resource.kind &&
  metadata.namespace === namespace &&
  Object.entries(labels).every(([name, value]) => metadata.labels?.[name] === value);

/** Returns the enclosed answer to a query; undefined if none is enclosed. */
export const enclosedAnswer = (
  { lists }: Enclosure,
  enclosed: readonly Listing[],
  query: Looking,
): readonly Stored[] | undefined => {
  const at = enclosed.findIndex((listing) => same(listing, query));
  return at < 0 ? undefined : lists[at];
};
