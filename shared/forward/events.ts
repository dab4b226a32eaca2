/** Parses one line of a watch: a change of an object, a bookmark, or an error of the server. */
import { jsonOf } from "../core/json.ts";
import type { Stored } from "../core/object.ts";
import { isRecord, isStored, type Json } from "../kube/responses.ts";

export type WatchEvent =
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
