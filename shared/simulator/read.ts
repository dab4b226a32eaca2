/** GET and LIST: the revision, the selection, and the text of the answer. */
import { fieldsOf } from "../core/json.ts";
import { oncePer } from "../core/memoize.ts";
import { isFields, numberAt, parsed, textAt } from "./json.ts";
import { apiVersionOf, type Kind } from "./kinds.ts";
import type { Item } from "./metadata.ts";
import { badOptions, badRequest, expired, tooLarge } from "./refusal.ts";
import { selectorOf } from "./selectors.ts";
import type { Server, Target } from "./server.ts";

const texts = new WeakMap<Item, string>();

/** An object of a dry run was never stored, so it has no revision. */
const unversioned = (item: Item): unknown => {
  const { resourceVersion: _none, ...metadata } = item.metadata;
  return { ...item, metadata };
};

/** The JSON of an object, written once per state. Objects start with their kind and apiVersion. */
export const textOf = (item: Item): string => {
  const known = texts.get(item);
  if (known !== undefined) return known;
  const text = JSON.stringify(item.metadata.resourceVersion === "" ? unversioned(item) : item);
  texts.set(item, text);
  return text;
};

/** True where JSON omits no part of the value. */
const isWhole = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return value !== undefined;
  for (const item of Array.isArray(value) ? value : Object.values(value)) if (!isWhole(item)) return false;
  return true;
};

/** The value that a client reads of an object: the object itself, where JSON omits nothing. */
export const readOf = oncePer((item: Item): object => {
  const isWritten = item.metadata.resourceVersion !== "" && isWhole(item);
  return isWritten ? item : fieldsOf(parsed(textOf(item)));
});

/** An object in the requested version. */
export const inVersion = (kind: Kind, item: Item): Item => {
  const apiVersion = apiVersionOf(kind);
  return item.apiVersion === apiVersion ? item : { ...item, apiVersion };
};

/** The text of an item. Items of built-in kinds omit kind and apiVersion, which the list states. */
const inList = (kind: Kind, item: Item): string => {
  if (kind.custom !== undefined) return textOf(inVersion(kind, item));
  const head = `{"kind":"${item.kind}","apiVersion":"${item.apiVersion}",`;
  return `{${textOf(item).slice(head.length)}`;
};

export const revisionOf = (text: string): number => {
  const revision = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(revision))
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`,
    );
  return revision;
};

type Page = { readonly revision: number; readonly after: string | undefined };

const token = (revision: number, after: string): string =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: revision, start: after })).toString("base64url");

const pageOf = (text: string): Page => {
  const value = parsed(Buffer.from(text, "base64url").toString("utf8"));
  const revision = numberAt(value, "rv");
  const after = textAt(value, "start");
  if (!isFields(value) || revision === undefined || after === undefined)
    throw badRequest(
      "invalid continue token: continue key is not valid: invalid character looking for beginning of value",
    );
  return { revision, after };
};

const checkMatch = (match: string | null, version: string | null): void => {
  if (match === null || match === "") return;
  const fault = (message: string) =>
    badOptions("ListOptions", "resourceVersionMatch", { reason: "FieldValueForbidden", message });
  if (version === null || version === "")
    throw fault("Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided");
  if (match === "Exact" && version === "0")
    throw fault('Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
};

const checkKnown = ({ store }: Server, revision: number): void => {
  if (revision > store.revision()) throw tooLarge(revision, store.revision());
};

/** The revision to read at: the newest, unless the request insists on an exact one. */
const revisionFor = (server: Server, query: URLSearchParams): Page => {
  const { store } = server;
  const next = query.get("continue");
  const version = query.get("resourceVersion");
  const match = query.get("resourceVersionMatch");
  if (next !== null && next !== "") {
    const page = pageOf(next);
    if (page.revision < store.compacted())
      throw expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
      );
    return page;
  }
  checkMatch(match, version);
  if (version === null || version === "" || version === "0") return { revision: store.revision(), after: undefined };
  const revision = revisionOf(version);
  checkKnown(server, revision);
  const exact =
    match === "Exact" || ((match === null || match === "") && query.has("limit") && query.get("limit") !== "0");
  if (!exact) return { revision: store.revision(), after: undefined };
  if (revision < store.compacted()) throw expired("The resourceVersion for the provided list is too old.");
  return { revision, after: undefined };
};

const placeOf = ({ metadata }: Item): string =>
  metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;

export type Listing = {
  readonly items: readonly Item[];
  readonly revision: number;
  readonly next: string | undefined;
  readonly remaining: number | undefined;
};

/** The objects that match a LIST. */
export const listing = (server: Server, { kind, namespace, name }: Target, query: URLSearchParams): Listing => {
  const { revision, after } = revisionFor(server, query);
  const matches = selectorOf(
    kind.table,
    query.get("labelSelector") ?? undefined,
    query.get("fieldSelector") ?? undefined,
  );
  const within = server.store
    .listAt(kind.table, revision)
    .filter(
      (item) =>
        (namespace === undefined || item.metadata.namespace === namespace) &&
        (name === undefined || item.metadata.name === name) &&
        (after === undefined || placeOf(item) > after),
    );
  const wanted = within.filter(matches);
  const limit = Number(query.get("limit") ?? 0);
  const items = limit > 0 ? wanted.slice(0, limit) : wanted;
  const last = items.at(-1);
  // As the real server: a page that is full has a next one as long as there are keys, whether selected or not.
  if (last === undefined || items.length < limit || limit === 0 || last === within.at(-1))
    return { items, revision, next: undefined, remaining: undefined };
  const selects = Boolean(query.get("labelSelector")) || Boolean(query.get("fieldSelector"));
  return {
    items,
    revision,
    next: token(revision, placeOf(last)),
    remaining: selects ? undefined : wanted.length - items.length,
  };
};

/** The metadata of a list. */
export const listMeta = ({ revision, next, remaining }: Listing) => ({
  resourceVersion: String(revision),
  ...(next !== undefined && { continue: next }),
  ...(remaining !== undefined && { remainingItemCount: remaining }),
});

const headOf = (kind: Kind, page: Listing) => ({
  kind: kind.listKind,
  apiVersion: apiVersionOf(kind),
  metadata: kind.custom === undefined ? listMeta(page) : { continue: "", ...listMeta(page) },
});

/** The value that a client reads of a list. */
export const listValue = (kind: Kind, page: Listing): unknown => ({
  ...headOf(kind, page),
  items: page.items.map((item) => readOf(inVersion(kind, item))),
});

/** A list as its body. */
export const listText = (kind: Kind, page: Listing): string => {
  const items = page.items.map((item) => inList(kind, item)).join(",");
  return `${JSON.stringify(headOf(kind, page)).slice(0, -1)},"items":[${items}]}`;
};

/** A GET may ask for at least a revision, never for an older one than the newest. */
export const checkGet = (server: Server, query: URLSearchParams): void => {
  const version = query.get("resourceVersion");
  if (version !== null && version !== "" && version !== "0") checkKnown(server, revisionOf(version));
};
