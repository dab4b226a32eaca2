/** GET and LIST: the revision, the label and field selectors, and the text of the answer. */

import { oncePer } from "../../core/cache.ts";
import { fieldsOf } from "../../core/json.ts";
import { apiVersionOf, type Kind } from "../schema/kinds.ts";
import { at, isFields, numberAt, parsed, textAt } from "../storage/json.ts";
import { type Item, selectorFaults } from "../storage/metadata.ts";
import { badOptions, badRequest, expired, tooLarge } from "../storage/refusal.ts";
import type { Server, Target } from "./request.ts";

export type Matches = (object: Item) => boolean;

const always: Matches = () => true;

/** Splits at commas that are not inside parentheses. */
const terms = (text: string): readonly string[] =>
  text.match(/[^,(]*(\([^)]*\))?[^,(]*/g)?.filter((t) => t !== "") ?? [];

type Test = (value: string | undefined, values: readonly string[]) => boolean;

const tests: Readonly<Record<string, Test>> = {
  "=": (value, [wanted]) => value === wanted,
  "==": (value, [wanted]) => value === wanted,
  "!=": (value, [wanted]) => value !== wanted,
  in: (value, values) => value !== undefined && values.includes(value),
  notin: (value, values) => value === undefined || !values.includes(value),
  gt: (value, [limit]) => value !== undefined && Number(value) > Number(limit),
  lt: (value, [limit]) => value !== undefined && Number(value) < Number(limit),
};

const setTerm = /^([^\s!=<>,()]+)\s+(in|notin)\s*\(([^)]*)\)$/;
const equalTerm = /^([^\s!=<>,()]+)\s*(==|!=|=|>|<)\s*([^\s!=<>,()]*)$/;
const existsTerm = /^(!?)\s*([^\s!=<>,()]+)$/;
const orders: Readonly<Record<string, string>> = { ">": "gt", "<": "lt" };

const labelOf = (object: Item, key: string): string | undefined => textAt(object.metadata, "labels", key);

const testing = (key: string, operator: string, values: readonly string[]): Matches => {
  const [fault] = selectorFaults(key, values);
  if (fault !== undefined) throw badRequest(`unable to parse requirement: ${fault.field}: ${fault.message}`);
  const test = tests[orders[operator] ?? operator] ?? (() => false);
  return (object) => test(labelOf(object, key), values);
};

const labelTerm = (term: string): Matches => {
  const set = setTerm.exec(term);
  if (set !== null) {
    const [, key = "", operator = "", values = ""] = set;
    return testing(
      key,
      operator,
      values.split(",").map((value) => value.trim()),
    );
  }
  const equal = equalTerm.exec(term);
  if (equal !== null) {
    const [, key = "", operator = "", value = ""] = equal;
    return testing(key, operator, [value]);
  }
  const exists = existsTerm.exec(term);
  if (exists === null)
    throw badRequest(
      `unable to parse requirement: found '${term}', expected: identifier, in, notin, =, ==, !=, gt, lt`,
    );
  const [, not, key = ""] = exists;
  return (object) => (labelOf(object, key) !== undefined) === (not === "");
};

const all = (parts: readonly Matches[]): Matches => {
  const [only] = parts;
  if (only === undefined) return always;
  return parts.length === 1 ? only : (object) => parts.every((part) => part(object));
};

const labelSelector = (text: string): Matches =>
  all(
    terms(text)
      .map((term) => term.trim())
      .filter((term) => term !== "")
      .map(labelTerm),
  );

/** Fields that can be selected on, beside name and namespace. */
const selectable: Readonly<Record<string, readonly string[]>> = {
  pods: [
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.phase",
    "status.podIP",
    "status.nominatedNodeName",
    "spec.hostNetwork",
  ],
  events: [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  nodes: ["spec.unschedulable"],
  namespaces: ["status.phase"],
  secrets: ["type"],
  "jobs.batch": ["status.successful"],
};

const fieldValue = (object: Item, field: string): string => {
  const value = at(object, ...(field === "source" ? ["source", "component"] : field.split(".")));
  if (value === undefined || value === null)
    return field === "spec.unschedulable" || field === "spec.hostNetwork" ? "false" : "";
  return String(value);
};

const fieldTerm = (table: string, term: string): Matches => {
  const [, field = "", operator, value = ""] = /^([^!=]+)(==|!=|=)(.*)$/.exec(term) ?? [];
  if (operator === undefined) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
  const known = field === "metadata.name" || field === "metadata.namespace" || selectable[table]?.includes(field);
  if (!known)
    throw badRequest(
      selectable[table] === undefined
        ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
        : `field label not supported: ${field}`,
    );
  return (object) => (fieldValue(object, field) === value) === (operator !== "!=");
};

export const fieldSelector = (table: string, text: string): Matches =>
  all(
    text
      .split(",")
      .filter((term) => term !== "")
      .map((term) => fieldTerm(table, term)),
  );

/** Both selectors of a request. */
export const selectorOf = (table: string, labels: string | undefined, fields: string | undefined): Matches => {
  if (!labels && !fields) return always;
  return all([labelSelector(labels ?? ""), fieldSelector(table, fields ?? "")].filter((part) => part !== always));
};

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
