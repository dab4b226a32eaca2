/** One line of a watch: what happened to which object, or what the server wants to say about the watch itself. */
import { jsonOf } from "../core/json.ts";
import type { Stored } from "../core/object.ts";
import { isRecord, isStored, type Json } from "../kube/responses.ts";

export type WatchEvent =
  | { readonly type: "changed"; readonly object: Stored }
  | { readonly type: "deleted"; readonly object: Stored }
  /** Everything up to here was sent. */
  | { readonly type: "bookmark"; readonly resourceVersion: string }
  /** The server cannot go on: 410 when what was asked for is too old. */
  | { readonly type: "error"; readonly status: number; readonly message: string }
  /** Not a watch event at all: something may have been missed. */
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

/** Reads one line; a half one, or one of something else, is garbled. */
export const eventOf = (line: string): WatchEvent => {
  const event = jsonOf(line);
  if (!isRecord(event) || !isRecord(event["object"])) return garbled;
  const { type, object } = event;
  if (type === "BOOKMARK") return bookmarkOf(object);
  if (type === "ERROR") return errorIn(object);
  if (!isStored(object)) return garbled;
  if (type === "ADDED" || type === "MODIFIED") return { type: "changed", object };
  return type === "DELETED" ? { type: "deleted", object } : garbled;
};
