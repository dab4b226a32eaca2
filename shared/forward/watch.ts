/** One watch from a cursor until it ends: takes in events one by one, and ends when the server is silent. */
import { ApiError } from "../core/errors.ts";
import type { HttpStream } from "../core/http.ts";
import { errorOf } from "../kube/responses.ts";
import { eventOf, type WatchEvent } from "./events.ts";
import { type FollowContext, getting, tell, type WatchState } from "./follow-context.ts";
import { unlessAborted } from "./pause.ts";

/** Seconds after which the server ends a watch; jitter keeps many watches from ending at once. */
const watchSeconds = 300;
/** Silence after which a watch is closed, ms; longer than the minute between bookmarks. */
const stallMs = 80_000;

/** Handles an event that ends the watch. Events may have been missed, so the cursor is cleared and a list follows. */
const mend = (
  following: FollowContext,
  trail: WatchState,
  event: WatchEvent & { type: "garbled" | "error" },
): "ended" => {
  trail.cursor = undefined;
  if (event.type === "garbled" || event.status === 410) return "ended";
  const message = `watch ${following.resource.plural}: ${event.message}`;
  throw new ApiError({ status: event.status, reason: "WatchError", message });
};

/** Takes in one event, then moves the cursor past it. */
const take = (following: FollowContext, trail: WatchState, event: WatchEvent): "ended" | undefined => {
  trail.moved ||= event.type !== "garbled" && event.type !== "error";
  trail.news ||= event.type === "changed" || event.type === "deleted";
  switch (event.type) {
    case "bookmark":
      trail.cursor = event.resourceVersion;
      return undefined;
    case "changed":
      tell(following, trail.known.seen(event.object));
      trail.cursor = event.object.metadata.resourceVersion;
      return undefined;
    case "deleted":
      tell(following, trail.known.gone(event.object));
      trail.cursor = event.object.metadata.resourceVersion;
      return undefined;
    default:
      return mend(following, trail, event);
  }
};

/** Closes a silent stream, because not every broken connection reports an error. */
const startGuard = (following: FollowContext, over: AbortSignal, close: () => void) => {
  let last = following.now();
  const guard = async (): Promise<void> => {
    while (!over.aborted) {
      await following.pause(stallMs / 4, over);
      if (!over.aborted && following.now() - last > stallMs) return close();
    }
  };
  return {
    ended: guard(),
    heard: (): void => {
      last = following.now();
    },
  };
};

const textOf = async (lines: AsyncIterable<string>): Promise<string> => {
  const parts: string[] = [];
  for await (const line of lines) parts.push(line);
  return parts.join("\n");
};

/** Reads events until the stream ends or must be given up; returns their number. */
const read = async (
  following: FollowContext,
  trail: WatchState,
  stream: HttpStream,
  heard: () => void,
): Promise<number> => {
  let events = 0;
  for await (const line of stream.lines) {
    if (following.signal.aborted) return events;
    heard();
    const ended = take(following, trail, eventOf(line));
    if (ended !== undefined) return events;
    events += 1;
  }
  return events;
};

const open = (following: FollowContext, from: string): Promise<HttpStream | undefined> => {
  const seconds = Math.round(watchSeconds * (0.9 + 0.2 * following.random()));
  const query = { watch: "1", allowWatchBookmarks: "true", resourceVersion: from, timeoutSeconds: String(seconds) };
  const { transport, signal } = following;
  return unlessAborted(transport.stream(getting(following, query)), signal, (late) => late.close());
};

/** Watches from the cursor. Returns the number of events; the cursor is undefined afterwards if a list is needed. */
export const watch = async (following: FollowContext, trail: WatchState, from: string): Promise<number> => {
  const { signal, resource } = following;
  const stream = await open(following, from);
  if (stream === undefined) return 0;
  const over = new AbortController();
  const end = (): void => {
    over.abort();
    stream.close();
  };
  signal.addEventListener("abort", end, { once: true });
  const guard = startGuard(following, over.signal, stream.close);
  try {
    if (stream.status === 200) return await read(following, trail, stream, guard.heard);
    const { status, headers } = stream;
    if (status === 410) trail.cursor = undefined;
    throw errorOf(`watch ${resource.plural}`, { status, headers, body: await textOf(stream.lines) });
  } finally {
    signal.removeEventListener("abort", end);
    end();
    await guard.ended;
  }
};
