/** The API server as one synchronous function from request to answer; watches are opened beside it. */
import { apply } from "./apply.ts";
import { create } from "./create.ts";
import { discovery } from "./discovery.ts";
import { parsed } from "./json.ts";
import type { Item } from "./metadata.ts";
import { jsonPatch, mergePatch } from "./patch.ts";
import { type Form, formFor } from "./present.ts";
import { checkGet, listing, listText, textOf } from "./read.ts";
import { badOptions, badRequest, methodNotAllowed, noSuchResource, notFound, Refusal, statusOf } from "./refusal.ts";
import { removeItem, removeOptions } from "./remove.ts";
import { isBuiltInGroup, isResourcePath, targetOf } from "./route.ts";
import { found, type Server, type Target, type WriteOptions } from "./server.ts";
import { strategicMerge } from "./strategic.ts";
import { update } from "./update.ts";
import { type Feed, type OpenWatch, openWatch } from "./watch.ts";

export type Ask = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** A request after its line was read. */
export type Call = {
  readonly ask: Ask;
  readonly target: Target;
  readonly query: URLSearchParams;
  readonly form: Form;
};

/** Answers subresources that are not stored: logs, evictions, bindings, proxies. */
export type Side = (server: Server, call: Call) => Result;
export type Sides = Readonly<Record<string, Side>>;

export type Result = {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
  readonly warnings?: readonly string[];
};

export type Door = {
  handle(ask: Ask): Answer;
  /** Opens a watch, or gives the answer that refuses it. */
  watch(ask: Ask, feed: Feed): OpenWatch | Answer;
};

const json = (status: number, text: string, warnings?: readonly string[]): Result => ({
  status,
  text,
  ...(warnings && { warnings }),
});

const strictness = (text: string | null): WriteOptions["strict"] =>
  text === "Strict" || text === "Ignore" ? text : "Warn";

const optionsOf: Readonly<Record<string, string>> = { POST: "CreateOptions", PUT: "UpdateOptions" };

const writeOptions = ({ ask, query }: Call): WriteOptions => {
  const dryRun = query.get("dryRun");
  if (dryRun !== null && dryRun !== "" && dryRun !== "All")
    throw badOptions(optionsOf[ask.method] ?? "PatchOptions", "dryRun", {
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ["${dryRun}"]: supported values: "All"`,
    });
  return {
    dryRun: dryRun === "All",
    manager: query.get("fieldManager") ?? (ask.headers["user-agent"] ?? "unknown").split("/")[0] ?? "unknown",
    strict: strictness(query.get("fieldValidation")),
  };
};

const bodyOf = ({ ask }: Call): unknown => {
  const type = ask.headers["content-type"] ?? "application/json";
  if (!type.includes("json") && !type.includes("yaml")) throw unsupported(false);
  return parsed(ask.body ?? "");
};

const shown = ({ form, target }: Call, status: number, item: Item, warnings?: readonly string[]): Result =>
  json(status, form.one(target.kind, item), warnings);

type Patcher = (current: unknown, patch: unknown) => unknown;

const patchers: Readonly<Record<string, Patcher>> = {
  "application/json-patch+json": jsonPatch,
  "application/merge-patch+json": mergePatch,
  "application/strategic-merge-patch+json": (current, patch) => strategicMerge(current, patch),
};

const applyType = "application/apply-patch+yaml";

const mediaTypes = (custom: boolean): readonly string[] =>
  [...Object.keys(patchers), applyType].filter((type) => !custom || !type.includes("strategic"));

/** Unlike the real server, this one reads JSON only. */
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
  const { item, warnings } = update(server, call.target, () => body, writeOptions(call));
  return shown(call, 200, item, warnings);
};

const get = (server: Server, call: Call): Result => {
  checkGet(server, call.query);
  return shown(call, 200, found(server, call.target));
};

const list = (server: Server, { target, query, form }: Call): Result =>
  json(200, form.many(target.kind, listing(server, target, query)));

const deletion = ({ ask, query }: Call) => {
  const body = ask.body ? parsed(ask.body) : {};
  if (body === undefined) throw badRequest("couldn't get version/kind; json parse error: unexpected end of JSON input");
  return removeOptions(body, query);
};

const remove = (server: Server, call: Call): Result => {
  const { kind } = call.target;
  const options = deletion(call);
  const { item, gone } = removeItem(server, kind, found(server, call.target), options);
  if (!gone || kind.returnsDeleted) return json(200, textOf(item));
  const { name, uid } = item.metadata;
  const details = { name, ...(kind.group !== "" && { group: kind.group }), kind: kind.plural, uid };
  return json(200, JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details }));
};

const removeAll = (server: Server, call: Call): Result => {
  const { target, query } = call;
  const page = listing(server, target, query);
  const options = deletion(call);
  for (const item of page.items) removeItem(server, target.kind, item, options);
  return json(200, listText(target.kind, page));
};

type Verb = (server: Server, call: Call) => Result;

const onOne: Readonly<Record<string, Verb>> = { GET: get, PUT: put, PATCH: patch, DELETE: remove };
const onMany: Readonly<Record<string, Verb>> = { GET: list, POST: post, DELETE: removeAll };

const verbFor = ({ ask, target }: Call): Verb => {
  const { name, sub, kind } = target;
  if (sub !== undefined && !(sub === "status" && kind.status))
    throw kind.custom === undefined ? noSuchResource() : notFound(kind, name ?? "");
  const verb = (name === undefined ? onMany : onOne)[ask.method];
  if (verb === undefined || (sub !== undefined && ask.method === "DELETE")) throw methodNotAllowed();
  return verb;
};

const split = (path: string): readonly [string, URLSearchParams] => {
  const mark = path.indexOf("?");
  return mark < 0 ? [path, new URLSearchParams()] : [path.slice(0, mark), new URLSearchParams(path.slice(mark + 1))];
};

const callOf = (server: Server, ask: Ask): Call | undefined => {
  const [path, query] = split(ask.path);
  const target = targetOf(server.store, path);
  return target && { ask, target, query, form: formFor(ask.headers["accept"], server.clock.now) };
};

const elsewhere = (server: Server, ask: Ask): Result => {
  const [path] = split(ask.path);
  const known = ask.method === "GET" ? discovery(server.store, path) : undefined;
  if (known !== undefined) return known;
  return isResourcePath(path) && isBuiltInGroup(path)
    ? json(404, JSON.stringify(statusOf(noSuchResource())))
    : { status: 404, text: "404 page not found\n", type: "text/plain; charset=utf-8" };
};

const answered = (server: Server, sides: Sides, ask: Ask): Result => {
  try {
    const call = callOf(server, ask);
    if (call === undefined) return elsewhere(server, ask);
    const side = call.target.sub === undefined ? undefined : sides[`${call.target.kind.table}/${call.target.sub}`];
    return (side ?? verbFor(call))(server, call);
  } catch (error) {
    if (error instanceof Refusal) return json(error.code, JSON.stringify(statusOf(error)));
    throw error;
  }
};

type Dated = { second: number; text: string };

/** The Date header, written once per second. */
const dateOf = (server: Server, last: Dated): string => {
  const second = Math.floor(server.clock.now() / 1000);
  if (second !== last.second) {
    last.second = second;
    last.text = new Date(second * 1000).toUTCString();
  }
  return last.text;
};

export const openDoor = (server: Server, sides: Sides): Door => {
  const dated: Dated = { second: -1, text: "" };
  const headers = ({ type = "application/json", warnings = [] }: Result): Record<string, string> => ({
    "content-type": type,
    "cache-control": "no-cache, private",
    date: dateOf(server, dated),
    ...(warnings.length > 0 && { warning: warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(", ") }),
  });
  const finish = (result: Result): Answer => ({ status: result.status, headers: headers(result), body: result.text });
  const handle = (ask: Ask): Answer => finish(answered(server, sides, ask));
  return {
    handle,
    watch: (ask, feed) => {
      try {
        const call = callOf(server, ask);
        if (call === undefined) return handle(ask);
        const { target, query, form } = call;
        return openWatch({ server, target, form, feed }, query);
      } catch (error) {
        if (error instanceof Refusal) return finish(json(error.code, JSON.stringify(statusOf(error))));
        throw error;
      }
    },
  };
};
