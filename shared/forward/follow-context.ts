/** What following one resource takes: the door, what to look for, whom to tell, and time and chance as values. */
import type { HttpRequest, Transport } from "../core/http.ts";
import type { Resource, Stored } from "../core/object.ts";
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
  /** After every full list; `blind` when it could not tell what had vanished before. */
  readonly synced: (objects: number, blind: boolean) => void;
  /** Something broke; it is tried again after `waitMs`. */
  readonly troubled: (cause: unknown, waitMs: number) => void;
  /** Ms that only grow. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly pause: Pause;
  readonly signal: AbortSignal;
};

/** How far it has come: what is known, and where a watch goes on; without a cursor a list comes first. */
export type WatchState = {
  readonly known: ObjectCache;
  cursor: string | undefined;
  /** What is known: nothing yet, only what came since a cursor that was kept, or everything since a list. */
  base: "nothing" | "cursor" | "list";
  /** The last watch brought something. */
  moved: boolean;
  /** More than bookmarks came since whoever keeps the cursor last looked. */
  news: boolean;
};

/** The beginning of a trail; with a cursor that was kept, where it goes on. */
export const openWatchState = (trim: (object: Stored) => Stored, cursor?: string): WatchState => ({
  known: openObjectCache(trim),
  cursor,
  base: cursor === undefined ? "nothing" : "cursor",
  moved: false,
  news: false,
});

const requestMs = 30_000;

/** A GET of the followed collection. */
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
