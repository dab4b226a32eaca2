/** The parameters of following one resource: transport, selectors, callbacks; time and randomness are values. */
import type { HttpRequest, Transport } from "../core/http.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Share } from "../core/share.ts";
import { collectionPath, withQuery } from "../kube/paths.ts";
import type { Change } from "./keys.ts";
import { type ObjectCache, openObjectCache } from "./object-cache.ts";
import type { Pause } from "./pause.ts";

export type FollowContext = {
  readonly transport: Transport;
  readonly resource: Resource;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly selector: string | undefined;
  readonly field?: string | undefined;
  readonly trim: (object: Stored) => Stored;
  readonly changed: (change: Change) => void;
  /** Called after every full list; `blind` if it could not tell which objects had been deleted before. */
  readonly synced: (objects: number, blind: boolean) => void;
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
};

/** Returns the initial state of a watch; with a stored cursor it continues from there. */
export const openWatchState = (trim: (object: Stored) => Stored, cursor?: string, share?: Share): WatchState => ({
  known: openObjectCache(trim, share),
  cursor,
  base: cursor === undefined ? "nothing" : "cursor",
  moved: false,
  news: false,
});

const requestMs = 30_000;

/** Builds a GET of the followed collection. */
export const getting = (
  following: FollowContext,
  query: Readonly<Record<string, string | undefined>>,
): HttpRequest => ({
  method: "GET",
  path: withQuery(collectionPath(following.resource, following.namespace), {
    labelSelector: following.selector,
    fieldSelector: following.field,
    ...query,
  }),
  headers: {},
  timeoutMs: requestMs,
});

export const tell = (following: FollowContext, changes: readonly Change[]): void => {
  for (const change of changes) following.changed(change);
};
