/**
 * Follows one resource until the signal is raised: lists, then watches from there. After an error it watches on, or
 * lists again and passes on only the differences. Time and randomness are values.
 *
 * W1. No event is missed: the cursor moves only past events that were taken in, and any doubt leads to a new list. What came
 *     and went before that list is in neither, so a resync follows it (`gap` of the forwarder).
 * W2. A silent watch is not trusted: bookmarks come every minute, and a watch that is silent for longer is restarted.
 * W3. A server in trouble is not overloaded: waits grow, with random jitter, and end with the first success.
 */
import { ApiError, type HttpRequest, type HttpStream, type Transport } from "../core/http.ts";
import { isRecord, jsonOf } from "../core/json.ts";
import type { Key } from "../core/key.ts";
import { apiVersionOf, type Resource, type Stored } from "../core/object.ts";
import type { Share } from "../core/share.ts";
import { backoffOf } from "../core/time.ts";
import { collectionPath, openPaging, withQuery } from "../kube/paths.ts";
import { errorOf, isStored, type Json, pageOf } from "../kube/responses.ts";
import { type Change, type ObjectCache, openObjectCache, type Subject } from "./keys.ts";
import { openBreather, type Pause, unlessAborted } from "./pause.ts";

/** True if a listed object is no reason for a step of the key, because the key's record rests. */
export type RestCheck = (object: Stored, key: Key) => boolean;

export type FollowContext = {
  readonly transport: Transport;
  readonly resource: Resource;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly selector: string | undefined;
  readonly field?: string | undefined;
  readonly trim: Subject["trim"];
  /** `isIdle` is true for keys to which an object that is new to this process is no news; absent: for none. */
  readonly changed: (change: Change, isIdle?: (key: Key) => boolean) => void;
  /** Called in a first list that finds objects; returns the check of these. Absent: every object is news. */
  readonly resting?: (() => Promise<RestCheck>) | undefined;
  /** Called after every full list, with the origin of what was known before it. */
  readonly synced: (objects: number, before: WatchState["base"]) => void;
  /** Called on errors; the next try comes after `waitMs`. */
  readonly troubled: (cause: unknown, waitMs: number) => void;
  /** A monotonic time, ms. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly pause: Pause;
  readonly signal: AbortSignal;
};

/** The state of a watch: the known objects, and the cursor to continue from; without a cursor a list comes first. */
export type WatchState = {
  readonly known: ObjectCache;
  cursor: string | undefined;
  /** The origin of the known objects: none yet, only events since a stored cursor, or everything since a list. */
  base: "nothing" | "cursor" | "list";
  /** True if the last watch received an event or a bookmark. */
  moved: boolean;
  /** True if anything but bookmarks has come since the cursor was last stored. */
  news: boolean;
  /** True if the server has accepted a watch or sent a whole list since this was last cleared. */
  answered: boolean;
};

/** Returns the initial state of a watch; with a stored cursor it continues from there. */
export const openWatchState = (trim: Subject["trim"], cursor?: string, share?: Share): WatchState => ({
  known: openObjectCache(trim, share),
  cursor,
  base: cursor === undefined ? "nothing" : "cursor",
  moved: false,
  news: false,
  answered: false,
});

const requestMs = 30_000;

/** Builds a GET of the followed collection. */
const getting = (
  following: FollowContext,
  query: Readonly<Record<string, string | undefined>>,
  limitBytes?: number,
): HttpRequest => ({
  method: "GET",
  path: withQuery(collectionPath(following.resource, following.namespace), {
    labelSelector: following.selector,
    fieldSelector: following.field,
    ...query,
  }),
  headers: {},
  timeoutMs: requestMs,
  ...(limitBytes && { limitBytes }),
});

const tell = (following: FollowContext, changes: readonly Change[], isIdle?: (key: Key) => boolean): void => {
  for (const change of changes) following.changed(change, change.before === undefined ? isIdle : undefined);
};

const noneRests: RestCheck = () => false;

const restsIn = async ({ resting }: FollowContext, blind: boolean): Promise<RestCheck> =>
  blind && resting !== undefined ? await resting() : noneRests;

/** Objects in one page: parsing a page blocks the event loop. */
const pageSize = 250;

/** The error of a list without a resourceVersion: a watch from an unknown version would miss events. */
const withoutVersion = (resource: Resource): ApiError =>
  new ApiError({ status: 0, reason: "BadAnswer", message: `list ${resource.plural}: no resourceVersion` });

/** Lists all objects. The cursor is set when all pages were taken in before the signal was raised. */
export const list = async (following: FollowContext, state: WatchState): Promise<void> => {
  const { transport, resource, signal } = following;
  const type = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  const before = state.base;
  const round = state.known.begin();
  const breathe = openBreather(following.now);
  const paging = openPaging(pageSize);
  let next: string | undefined;
  let version = "";
  let rests: RestCheck | undefined;
  do {
    const pages = paging((size, limitBytes) =>
      transport.send(getting(following, { limit: String(size), continue: next }, limitBytes)),
    );
    const response = await unlessAborted(pages, signal);
    if (response === undefined) return;
    const page = pageOf(`list ${resource.plural}`, response, type);
    if (page.items.length > 0) rests ??= await unlessAborted(restsIn(following, before !== "list"), signal);
    if (signal.aborted) return;
    for (const object of page.items) {
      await breathe();
      tell(following, round.see(object), (key) => rests?.(object, key) === true);
    }
    version = page.resourceVersion;
    next = page.next;
  } while (next !== undefined);
  if (version === "") throw withoutVersion(resource);
  tell(following, round.end());
  state.cursor = version;
  state.base = "list";
  state.news = true;
  state.answered = true;
  following.synced(state.known.size(), before);
};

type WatchEvent =
  | { readonly type: "changed"; readonly object: Stored }
  | { readonly type: "deleted"; readonly object: Stored }
  /** The server has sent everything up to this version. */
  | { readonly type: "bookmark"; readonly resourceVersion: string }
  /** The server ended the watch; 410 if the requested version is too old. */
  | { readonly type: "error"; readonly status: number; readonly message: string }
  /** Not a watch event: an event may have been missed. */
  | { readonly type: "garbled" };

const garbled: WatchEvent = { type: "garbled" };

const bookmarkOf = (object: Json): WatchEvent => {
  const { metadata } = object;
  const version = isRecord(metadata) ? metadata["resourceVersion"] : undefined;
  return typeof version === "string" && version !== "" ? { type: "bookmark", resourceVersion: version } : garbled;
};

const errorIn = (object: Json): WatchEvent => {
  const { code, message } = object;
  return { type: "error", status: typeof code === "number" ? code : 500, message: String(message ?? "watch error") };
};

/** Parses one line; an incomplete or foreign line is garbled. */
const eventOf = (line: string): WatchEvent => {
  const event = jsonOf(line);
  if (!isRecord(event) || !isRecord(event["object"])) return garbled;
  const { type, object } = event;
  if (type === "BOOKMARK") return bookmarkOf(object);
  if (type === "ERROR") return errorIn(object);
  if (!isStored(object)) return garbled;
  if (type === "ADDED" || type === "MODIFIED") return { type: "changed", object };
  return type === "DELETED" ? { type: "deleted", object } : garbled;
};

/** Seconds after which the server ends a watch; jitter keeps many watches from ending at once. */
const watchSeconds = 300;
/** Silence after which a watch is closed, ms; longer than the minute between bookmarks. It is looked for this much later. */
const stallMs = 80_000;
const laterMs = 1_000;

/** Handles an event that ends the watch. Events may have been missed, so the cursor is cleared and a list follows. */
const mend = (
  following: FollowContext,
  state: WatchState,
  event: WatchEvent & { type: "garbled" | "error" },
): "ended" => {
  state.cursor = undefined;
  if (event.type === "garbled" || event.status === 410) return "ended";
  const message = `watch ${following.resource.plural}: ${event.message}`;
  throw new ApiError({ status: event.status, reason: "WatchError", message });
};

/** Takes in one event, then moves the cursor past it. */
const take = (following: FollowContext, state: WatchState, event: WatchEvent): "ended" | undefined => {
  state.moved ||= event.type !== "garbled" && event.type !== "error";
  state.news ||= event.type === "changed" || event.type === "deleted";
  switch (event.type) {
    case "bookmark":
      state.cursor = event.resourceVersion;
      return undefined;
    case "changed":
      tell(following, state.known.seen(event.object));
      state.cursor = event.object.metadata.resourceVersion;
      return undefined;
    case "deleted":
      tell(following, state.known.gone(event.object));
      state.cursor = event.object.metadata.resourceVersion;
      return undefined;
    default:
      return mend(following, state, event);
  }
};

/** Closes a silent stream, because not every broken connection reports an error. */
const startGuard = (following: FollowContext, over: AbortSignal, close: () => void) => {
  let last = following.now();
  const guard = async (): Promise<void> => {
    while (!over.aborted) {
      await following.pause(last + stallMs + laterMs - following.now(), over);
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
  state: WatchState,
  stream: HttpStream,
  heard: () => void,
): Promise<number> => {
  let events = 0;
  for await (const line of stream.lines) {
    if (following.signal.aborted) return events;
    heard();
    const ended = take(following, state, eventOf(line));
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
const watch = async (following: FollowContext, state: WatchState, from: string): Promise<number> => {
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
    if (stream.status === 200) {
      state.answered = true;
      return await read(following, state, stream, guard.heard);
    }
    const { status, headers } = stream;
    if (status === 410) state.cursor = undefined;
    throw errorOf(`watch ${resource.plural}`, { status, headers, body: await textOf(stream.lines) });
  } finally {
    signal.removeEventListener("abort", end);
    end();
    await guard.ended;
  }
};

const shortestWaitMs = 500;
const longestWaitMs = 30_000;
/** A watch that ends sooner than this without an event counts as a failure, so that it is not reopened at once. */
const briefMs = 2_000;

/** Lists if necessary, then watches once. Throws an error that must be followed by a wait. */
const round = async (following: FollowContext, state: WatchState): Promise<void> => {
  if (state.cursor === undefined) await list(following, state);
  if (state.cursor === undefined || following.signal.aborted) return;
  const begun = following.now();
  const events = await watch(following, state, state.cursor);
  if (events > 0 || following.now() - begun >= briefMs || following.signal.aborted) return;
  const message = `watch ${following.resource.plural}: ended at once`;
  throw new ApiError({ status: 0, reason: "Unreachable", message });
};

/** Returns the wait after this many failures in a row, ms (W3). */
const waitAfter = (failures: number, cause: unknown, random: number): number => {
  const page = cause instanceof ApiError ? (cause.retryAfterMs ?? 0) : 0;
  const grown = backoffOf(failures, shortestWaitMs, longestWaitMs);
  return Math.max(page, grown * (0.5 + 0.5 * random));
};

/** Runs until the signal is raised. Never rejects: errors are reported, and retried after a wait. */
export const follow = async (
  following: FollowContext,
  state: WatchState = openWatchState(following.trim),
): Promise<void> => {
  const { signal } = following;
  let failures = 0;
  while (!signal.aborted) {
    state.moved = false;
    try {
      await round(following, state);
      failures = 0;
    } catch (cause) {
      if (signal.aborted) return;
      // A connection that breaks repeatedly but delivers events each time does not get growing waits.
      if (state.moved) failures = 0;
      const waitMs = waitAfter(failures, cause, following.random());
      failures += 1;
      following.troubled(cause, waitMs);
      await following.pause(waitMs, signal);
    }
  }
};
