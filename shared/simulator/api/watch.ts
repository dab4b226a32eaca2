/** WATCH: a stream of changes from a revision on, with bookmarks, an end, and an error when the revision is too old. */

import type { Kind } from "../schema/kinds.ts";
import type { Item } from "../storage/metadata.ts";
import { badOptions, expired, internal, statusOf } from "../storage/refusal.ts";
import type { Change } from "../storage/store.ts";
import { listing, type Matches, revisionOf, selectorOf } from "../verbs/read.ts";
import type { Server, Target } from "../verbs/request.ts";
import { bookmarkText, type Form } from "./answer.ts";

/** The receiver of a watch's lines. */
export type Feed = { readonly line: (text: string) => void; readonly end: () => void };
export type OpenWatch = { close(): void };

const bookmarkEveryMs = 60_000;
const defaultTimeoutSeconds = 1800;

type Event = { readonly type: string; readonly item: Item };

/** A change as seen through a selector: objects enter and leave it. */
const seenAs = (matches: Matches, { type, object, before }: Change): Event | undefined => {
  const was = before !== undefined && matches(before);
  const is = type !== "DELETED" && matches(object);
  if (is) return { type: was ? "MODIFIED" : "ADDED", item: object };
  if (!was) return undefined;
  if (type === "DELETED") return { type: "DELETED", item: object };
  const { resourceVersion } = object.metadata;
  return { type: "DELETED", item: { ...before, metadata: { ...before.metadata, resourceVersion } } };
};

const concerns = ({ kind, namespace, name }: Target, { table, object }: Change): boolean =>
  table === kind.table &&
  (namespace === undefined || object.metadata.namespace === namespace) &&
  (name === undefined || object.metadata.name === name);

const eventText = (kind: Kind, form: Form, { type, item }: Event): string =>
  `{"type":"${type}","object":${form.one(kind, item)}}`;

type Start = { readonly from: number; readonly initial: readonly Item[] | undefined; readonly marked: boolean };

/** An invalid revision of a watch has another refusal than that of a list. */
const fromOf = (version: string): number => {
  if (/^\d+$/.test(version)) return revisionOf(version);
  throw internal(
    `resourceVersion: Invalid value: "${version}": strconv.ParseUint: parsing "${version}": invalid syntax`,
  );
};

const checkInitial = (query: URLSearchParams): void => {
  if (query.get("sendInitialEvents") === null || query.get("resourceVersionMatch") === "NotOlderThan") return;
  throw badOptions("ListOptions", "resourceVersionMatch", {
    reason: "FieldValueForbidden",
    message: "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
  });
};

const startOf = (server: Server, target: Target, query: URLSearchParams): Start => {
  const version = query.get("resourceVersion") ?? "";
  const wanted = query.get("sendInitialEvents");
  checkInitial(query);
  const fresh = version === "" || version === "0";
  if (wanted === "true" || (wanted === null && fresh)) {
    const plain = new URLSearchParams(query);
    for (const key of ["resourceVersion", "resourceVersionMatch", "limit", "continue"]) plain.delete(key);
    const { items, revision } = listing(server, target, plain);
    return { from: revision, initial: items, marked: wanted === "true" };
  }
  return { from: fresh ? server.store.revision() : fromOf(version), initial: undefined, marked: false };
};

const tooOld = (from: number, oldest: number): string =>
  JSON.stringify({ type: "ERROR", object: statusOf(expired(`too old resource version: ${from} (${oldest})`)) });

type Watching = { readonly server: Server; readonly target: Target; readonly form: Form; readonly feed: Feed };

/** Sends bookmarks, and the end, when the clock says so. */
const timekeeper = ({ server, target, feed }: Watching, query: URLSearchParams, end: () => void) => {
  const seconds = Number(query.get("timeoutSeconds") ?? 0) || defaultTimeoutSeconds;
  const until = server.clock.now() + seconds * 1000;
  const bookmarks = query.get("allowWatchBookmarks") === "true" || query.get("allowWatchBookmarks") === "1";
  let nextBookmark = server.clock.now() + bookmarkEveryMs;
  return (now: number): void => {
    if (bookmarks && now >= nextBookmark && now < until) {
      nextBookmark = now + bookmarkEveryMs;
      feed.line(bookmarkText(target.kind, server.store.revision(), false));
    }
    if (now >= until) end();
  };
};

const sendInitial = ({ target, form, feed }: Watching, { initial, from, marked }: Start): void => {
  for (const item of initial ?? []) feed.line(eventText(target.kind, form, { type: "ADDED", item }));
  if (marked) feed.line(bookmarkText(target.kind, from, true));
};

/** Opens a watch: sends the due events before it returns, and later ones as they happen. */
export const openWatch = (watching: Watching, query: URLSearchParams): OpenWatch => {
  const { server, target, form, feed } = watching;
  const { store, clock } = server;
  const matches = selectorOf(
    target.kind.table,
    query.get("labelSelector") ?? undefined,
    query.get("fieldSelector") ?? undefined,
  );
  const start = startOf(server, target, query);
  if (start.from < store.compacted()) {
    feed.line(tooOld(start.from, store.compacted()));
    feed.end();
    return { close: () => {} };
  }
  sendInitial(watching, start);
  const tell = (change: Change): void => {
    const event = concerns(target, change) && change.revision > start.from ? seenAs(matches, change) : undefined;
    if (event !== undefined) feed.line(eventText(target.kind, form, event));
  };
  for (const change of store.since(start.from)) tell(change);
  const close = (): void => {
    unsubscribe();
    stopTurning();
  };
  const unsubscribe = store.subscribe(tell);
  const stopTurning = clock.onTurn(
    timekeeper(watching, query, () => {
      close();
      feed.end();
    }),
  );
  return { close };
};
