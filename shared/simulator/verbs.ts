/** The verbs: each method on one object or on many. */
import { validated } from "./admission.ts";
import { apply } from "./apply.ts";
import type { Call, Result } from "./call.ts";
import { create } from "./create.ts";
import { parsed, withAt } from "./json.ts";
import type { Item } from "./metadata.ts";
import { jsonPatch, mergePatch } from "./patch.ts";
import { checkGet, type Listing, listing, listText, textOf } from "./read.ts";
import { badOptions, badRequest, methodNotAllowed, noSuchResource, notFound, Refusal } from "./refusal.ts";
import { removeItem, removeOptions } from "./remove.ts";
import { found, type Server, type WriteOptions } from "./server.ts";
import { keyOf } from "./store.ts";
import { strategicMerge } from "./strategic.ts";
import { update } from "./update.ts";
import { openWatch } from "./watch.ts";

export const json = (status: number, text: string, warnings?: readonly string[]): Result => ({
  status,
  text,
  ...(warnings && { warnings }),
});

const strictness = (text: string | null): WriteOptions["strict"] =>
  text === "Strict" || text === "Ignore" ? text : "Warn";

const optionsOf: Readonly<Record<string, string>> = { POST: "CreateOptions", PUT: "UpdateOptions" };

const writeOptions = ({ ask, query, target }: Call): WriteOptions => {
  const dryRun = query.get("dryRun");
  if (dryRun !== null && dryRun !== "" && dryRun !== "All")
    throw badOptions(optionsOf[ask.method] ?? "PatchOptions", "dryRun", {
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ["${dryRun}"]: supported values: "All"`,
    });
  return {
    dryRun: dryRun === "All",
    manager: query.get("fieldManager") ?? (ask.headers["user-agent"] ?? "unknown").split("/")[0] ?? "unknown",
    subresource: target.sub,
    ask,
    strict: strictness(query.get("fieldValidation")),
  };
};

const bodyOf = ({ ask }: Call): unknown => {
  const type = ask.headers["content-type"] ?? "application/json";
  if (!type.includes("json") && !type.includes("yaml")) throw unsupported(false);
  return parsed(ask.body ?? "");
};

/** An answer whose text is written only when it is read. */
const shown = ({ form, target: { kind } }: Call, status: number, item: Item, warnings?: readonly string[]): Result => ({
  status,
  get text() {
    return form.one(kind, item);
  },
  ...(form.values && { json: () => form.values?.one(kind, item) }),
  ...(warnings && { warnings }),
});

const shownAll = ({ form, target: { kind } }: Call, page: Listing): Result => ({
  status: 200,
  get text() {
    return form.many(kind, page);
  },
  ...(form.values && { json: () => form.values?.many(kind, page) }),
});

type Patcher = (current: unknown, patch: unknown) => unknown;

const patchers: Readonly<Record<string, Patcher>> = {
  "application/json-patch+json": jsonPatch,
  "application/merge-patch+json": mergePatch,
  "application/strategic-merge-patch+json": (current, patch) => strategicMerge(current, patch),
};

const applyType = "application/apply-patch+yaml";

const mediaTypes = (custom: boolean): readonly string[] =>
  [...Object.keys(patchers), applyType].filter((type) => !custom || !type.includes("strategic"));

/** The refusal of a media type. Unlike the real server, this one reads JSON only. */
const unsupported = (custom: boolean): Refusal =>
  custom
    ? new Refusal(
        415,
        "UnsupportedMediaType",
        `the body of the request was in an unknown format - accepted media types include: ${mediaTypes(true).join(", ")}`,
      )
    : new Refusal(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});

const patch = (server: Server, call: Call): Result => {
  const { target, ask, query } = call;
  const [type = ""] = (ask.headers["content-type"] ?? "").split(";");
  const options = writeOptions(call);
  if (type === applyType) {
    const { item, created, warnings } = apply(server, target, bodyOf(call), {
      ...options,
      manager: query.get("fieldManager") ?? "",
      force: query.get("force") === "true",
    });
    return shown(call, created ? 201 : 200, item, warnings);
  }
  const patcher = patchers[type];
  const custom = target.kind.custom !== undefined;
  if (patcher === undefined || !mediaTypes(custom).includes(type)) throw unsupported(custom);
  const change = bodyOf(call);
  if (change === undefined) throw badRequest("error decoding patch: unexpected end of JSON input");
  const { item, warnings } = update(server, target, (current) => patcher(current, change), options);
  return shown(call, 200, item, warnings);
};

const post = (server: Server, call: Call): Result => {
  const { item, warnings } = create(server, call.target, bodyOf(call), writeOptions(call));
  return shown(call, 201, item, warnings);
};

const put = (server: Server, call: Call): Result => {
  const body = bodyOf(call);
  const { kind, namespace, name = "", sub } = call.target;
  const absent = sub === undefined && server.store.get(kind.table, keyOf(namespace, name)) === undefined;
  if (kind.createdByPut && absent) {
    const made = create(
      server,
      call.target,
      withAt(body, ["metadata", "resourceVersion"], undefined),
      writeOptions(call),
    );
    return shown(call, 201, made.item, made.warnings);
  }
  const { item, warnings } = update(server, call.target, () => body, writeOptions(call), "whole");
  return shown(call, 200, item, warnings);
};

const get = (server: Server, call: Call): Result => {
  checkGet(server, call.query);
  return shown(call, 200, found(server, call.target));
};

const isWatch = (query: URLSearchParams): boolean => query.get("watch") === "true" || query.get("watch") === "1";

/** The lines that a watch sends at once; a watch that goes on is opened beside this function. */
const glance = (server: Server, { target, query, form }: Call): Result => {
  const lines: string[] = [];
  const feed = { line: (text: string) => void lines.push(text), end: () => {} };
  openWatch({ server, target, form, feed }, query).close();
  return json(200, lines.map((line) => `${line}\n`).join(""));
};

const list = (server: Server, call: Call): Result => {
  const { target, query } = call;
  return isWatch(query) ? glance(server, call) : shownAll(call, listing(server, target, query));
};

/** Calls the validating webhooks before a deletion. */
const admitRemoval = (server: Server, { ask, target }: Call, item: Item, dryRun: boolean): void => {
  const options: WriteOptions = { dryRun, manager: "", strict: "Ignore", ask };
  validated(server, { kind: target.kind, operation: "DELETE", sub: undefined, object: undefined, old: item }, options);
};

const deletion = ({ ask, query }: Call) => {
  const body = ask.body ? parsed(ask.body) : {};
  if (body === undefined) throw badRequest("couldn't get version/kind; json parse error: unexpected end of JSON input");
  return removeOptions(body, query);
};

const remove = (server: Server, call: Call): Result => {
  const { kind } = call.target;
  const options = deletion(call);
  const there = found(server, call.target);
  admitRemoval(server, call, there, options.dryRun);
  const { item, gone } = removeItem(server, kind, there, options);
  if (!gone || kind.returnsDeleted) return json(200, textOf(item));
  const { name, uid } = item.metadata;
  const details = { name, ...(kind.group !== "" && { group: kind.group }), kind: kind.plural, uid };
  return json(200, JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details }));
};

const removeAll = (server: Server, call: Call): Result => {
  const { target, query } = call;
  const page = listing(server, target, query);
  const options = deletion(call);
  for (const item of page.items) admitRemoval(server, call, item, options.dryRun);
  for (const item of page.items) removeItem(server, target.kind, item, options);
  return json(200, listText(target.kind, page));
};

type Verb = (server: Server, call: Call) => Result;

const onOne: Readonly<Record<string, Verb>> = { GET: get, PUT: put, PATCH: patch, DELETE: remove };
const onMany: Readonly<Record<string, Verb>> = { GET: list, POST: post, DELETE: removeAll };

/** The verb of a request; throws when there is none. */
export const verbFor = ({ ask, target }: Call): Verb => {
  const { name, sub, kind } = target;
  if (sub !== undefined && !(sub === "status" && kind.status))
    throw kind.custom === undefined ? noSuchResource() : notFound(kind, name ?? "");
  const verb = (name === undefined ? onMany : onOne)[ask.method];
  if (verb === undefined || (sub !== undefined && ask.method === "DELETE")) throw methodNotAllowed();
  return verb;
};
