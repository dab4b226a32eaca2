/**
 * One resource followed for as long as the signal lets it: list, watch from there, and whatever breaks is mended by
 * watching on, or by listing again and telling only the differences.
 *
 * W1. Nothing is missed: the cursor moves only past what was taken in, and any doubt is a new list.
 * W2. A silence is not trusted: bookmarks come every minute, and a watch without a word for longer is begun again.
 * W3. A server in trouble is not hurried: waits grow, with chance from outside, and end with the first success.
 */
import { ApiError } from "../core/errors.ts";
import { type FollowContext, openWatchState, type WatchState } from "./follow-context.ts";
import { list } from "./list.ts";
import { watch } from "./watch.ts";

const shortestWaitMs = 500;
const longestWaitMs = 30_000;
/** A watch that ends sooner and brought nothing is a failure, too: a door that is slammed is not knocked on at once. */
const briefMs = 2_000;

/** One list if it is needed, and one watch. Throws for whatever should be waited upon. */
const round = async (following: FollowContext, trail: WatchState): Promise<void> => {
  if (trail.cursor === undefined) await list(following, trail);
  if (trail.cursor === undefined || following.signal.aborted) return;
  const begun = following.now();
  const events = await watch(following, trail, trail.cursor);
  if (events > 0 || following.now() - begun >= briefMs || following.signal.aborted) return;
  const message = `watch ${following.resource.plural}: ended at once`;
  throw new ApiError({ status: 0, reason: "Unreachable", message });
};

/** How long to wait after so many failures in a row (W3). */
const waitAfter = (failures: number, cause: unknown, random: number): number => {
  const asked = cause instanceof ApiError ? (cause.retryAfterMs ?? 0) : 0;
  const grown = Math.min(longestWaitMs, shortestWaitMs * 2 ** Math.min(failures, 16));
  return Math.max(asked, grown * (0.5 + 0.5 * random));
};

/** Runs until the signal is raised. Never rejects: what goes wrong is told, waited upon and tried again. */
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
      // A connection that is cut again and again, but brings something each time, is not worth a longer and longer wait.
      if (trail.moved) failures = 0;
      const waitMs = waitAfter(failures, cause, following.random());
      failures += 1;
      following.troubled(cause, waitMs);
      await following.pause(waitMs, signal);
    }
  }
};
