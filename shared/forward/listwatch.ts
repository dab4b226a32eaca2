/**
 * Follows one resource until the signal is raised: lists, then watches from there. After an error it watches on, or
 * lists again and passes on only the differences.
 *
 * W1. No event is missed: the cursor moves only past events that were taken in, and any doubt leads to a new list.
 * W2. A silent watch is not trusted: bookmarks come every minute, and a watch that is silent for longer is restarted.
 * W3. A server in trouble is not overloaded: waits grow, with random jitter, and end with the first success.
 */
import { backoffOf } from "../core/backoff.ts";
import { ApiError } from "../core/errors.ts";
import { type FollowContext, openWatchState, type WatchState } from "./follow-context.ts";
import { list } from "./list.ts";
import { watch } from "./watch.ts";

const shortestWaitMs = 500;
const longestWaitMs = 30_000;
/** A watch that ends sooner than this without an event counts as a failure, so that it is not reopened at once. */
const briefMs = 2_000;

/** Lists if necessary, then watches once. Throws an error that must be followed by a wait. */
const round = async (following: FollowContext, trail: WatchState): Promise<void> => {
  if (trail.cursor === undefined) await list(following, trail);
  if (trail.cursor === undefined || following.signal.aborted) return;
  const begun = following.now();
  const events = await watch(following, trail, trail.cursor);
  if (events > 0 || following.now() - begun >= briefMs || following.signal.aborted) return;
  const message = `watch ${following.resource.plural}: ended at once`;
  throw new ApiError({ status: 0, reason: "Unreachable", message });
};

/** Returns the wait after this many failures in a row, ms (W3). */
const waitAfter = (failures: number, cause: unknown, random: number): number => {
  const asked = cause instanceof ApiError ? (cause.retryAfterMs ?? 0) : 0;
  const grown = backoffOf(failures, shortestWaitMs, longestWaitMs);
  return Math.max(asked, grown * (0.5 + 0.5 * random));
};

/** Runs until the signal is raised. Never rejects: errors are reported, and retried after a wait. */
export const follow = async (
  following: FollowContext,
  trail: WatchState = openWatchState(following.trim),
): Promise<void> => {
  const { signal } = following;
  let failures = 0;
  while (!signal.aborted) {
    trail.moved = false;
    try {
      await round(following, trail);
      failures = 0;
    } catch (cause) {
      if (signal.aborted) return;
      // A connection that breaks repeatedly but delivers events each time does not get growing waits.
      if (trail.moved) failures = 0;
      const waitMs = waitAfter(failures, cause, following.random());
      failures += 1;
      following.troubled(cause, waitMs);
      await following.pause(waitMs, signal);
    }
  }
};
