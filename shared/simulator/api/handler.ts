/** The API server as one synchronous function from request to answer, and as a Transport for engine and forwarder. Watches are
 * opened beside it. */

import type { HttpRequest, HttpStream, Transport } from "../../core/http.ts";
import { jsonPatch, mergePatch, strategicMerge } from "../schema/patch.ts";
import { parsed, withAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import {
  badOptions,
  badRequest,
  methodNotAllowed,
  noSuchResource,
  notFound,
  Refusal,
  statusOf,
} from "../storage/refusal.ts";
import { keyOf } from "../storage/store.ts";
import { validated } from "../verbs/admission.ts";
import { create } from "../verbs/create.ts";
import { checkGet, type Listing, listing, listText, textOf } from "../verbs/read.ts";
import { isUnderWay, type RemoveOptions, removeItem, removeOptions, toldGrace } from "../verbs/remove.ts";
import {
  type ApiRequest,
  found,
  isBuiltInGroup,
  isResourcePath,
  type Server,
  targetOf,
  type WriteOptions,
} from "../verbs/request.ts";
import { apply, update } from "../verbs/update.ts";
import { type Answer, type Call, formFor, type Result, type Subresources } from "./answer.ts";
import { type Gate, review } from "./authorization.ts";
import { discovery } from "./discovery.ts";
import { type Feed, type OpenWatch, openWatch } from "./watch.ts";

const json = (status: number, text: string, warnings?: readonly string[]): Result => ({
  status,
  text,
  ...(warnings && { warnings }),
});

const strictness = (text: string | null): WriteOptions["strict"] =>
  text === "Strict" || text === "Ignore" ? text : "Warn";

const optionsOf: Readonly<Record<string, string>> = { POST: "CreateOptions", PUT: "UpdateOptions" };

const writeOptions = ({ request, query, target }: Call): WriteOptions => {
  const dryRun = query.get("dryRun");
  if (dryRun !== null && dryRun !== "" && dryRun !== "All")
    throw badOptions(optionsOf[request.method] ?? "PatchOptions", "dryRun", {
      reason: "FieldValueNotSupported",
      message: `Unsupported value: ["${dryRun}"]: supported values: "All"`,
    });
  return {
    dryRun: dryRun === "All",
    manager: query.get("fieldManager") ?? (request.headers["user-agent"] ?? "unknown").split("/")[0] ?? "unknown",
    subresource: target.sub,
    request: request,
    strict: strictness(query.get("fieldValidation")),
  };
};

const bodyOf = ({ request }: Call): unknown => {
  const type = request.headers["content-type"] ?? "application/json";
  if (!type.includes("json") && !type.includes("yaml")) throw unsupported(false);
  return parsed(request.body ?? "");
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
  const { target, request, query } = call;
  const [type = ""] = (request.headers["content-type"] ?? "").split(";");
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

/**
 * Calls the validating webhooks before a deletion, and again for a pod without grace before it is removed. Returns the options
 * of the deletion.
 */
const admitRemoval = (server: Server, call: Call, item: Item, options: RemoveOptions): RemoveOptions => {
  const { request, target } = call;
  const { kind } = target;
  const { dryRun } = options;
  const isUnnamed = target.name === undefined;
  const told = { graceSeconds: toldGrace(kind, item, options), isUnnamed };
  const admit = (old: Item): void => {
    const write: WriteOptions = { dryRun, manager: "", strict: "Ignore", request, ...told };
    validated(server, { kind, operation: "DELETE", sub: undefined, object: undefined, old }, write);
  };
  if (!isUnderWay(kind, item, options)) admit(item);
  return { ...options, marked: admit };
};

const deletion = ({ request, query }: Call) => {
  const body = request.body ? parsed(request.body) : {};
  if (body === undefined) throw badRequest("couldn't get version/kind; json parse error: unexpected end of JSON input");
  return removeOptions(body, query);
};

const remove = (server: Server, call: Call): Result => {
  const { kind } = call.target;
  const options = deletion(call);
  const there = found(server, call.target);
  const { item, gone } = removeItem(server, kind, there, admitRemoval(server, call, there, options));
  if (!gone || kind.returnsDeleted) return json(200, textOf(item));
  const { name, uid } = item.metadata;
  const details = { name, ...(kind.group !== "" && { group: kind.group }), kind: kind.plural, uid };
  return json(200, JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details }));
};

const removeAll = (server: Server, call: Call): Result => {
  const { target, query } = call;
  const page = listing(server, target, query);
  const options = deletion(call);
  const admitted = page.items.map((item) => ({ item, options: admitRemoval(server, call, item, options) }));
  for (const one of admitted) removeItem(server, target.kind, one.item, one.options);
  return json(200, listText(target.kind, page));
};

type Verb = (server: Server, call: Call) => Result;

const onOne: Readonly<Record<string, Verb>> = { GET: get, PUT: put, PATCH: patch, DELETE: remove };
const onMany: Readonly<Record<string, Verb>> = { GET: list, POST: post, DELETE: removeAll };

/** The verb of a request; throws when there is none. */
const verbFor = ({ request, target }: Call): Verb => {
  const { name, sub, kind } = target;
  if (sub !== undefined && !(sub === "status" && kind.status))
    throw kind.custom === undefined ? noSuchResource() : notFound(kind, name ?? "");
  const verb = (name === undefined ? onMany : onOne)[request.method];
  if (verb === undefined || (sub !== undefined && request.method === "DELETE")) throw methodNotAllowed();
  return verb;
};

export type ApiAccess = {
  handle(request: ApiRequest): Answer;
  /** Opens a watch, or returns the answer that refuses it. */
  watch(request: ApiRequest, feed: Feed): OpenWatch | Answer;
};

const split = (path: string): readonly [string, URLSearchParams] => {
  const mark = path.indexOf("?");
  return mark < 0 ? [path, new URLSearchParams()] : [path.slice(0, mark), new URLSearchParams(path.slice(mark + 1))];
};

const callOf = (server: Server, request: ApiRequest): Call | undefined => {
  const [path, query] = split(request.path);
  const target = targetOf(server.store, path);
  return target && { request: request, target, query, form: formFor(request.headers["accept"], server.clock.now) };
};

const elsewhere = (server: Server, request: ApiRequest): Result => {
  const [path] = split(request.path);
  const known = request.method === "GET" ? discovery(server.store, path) : review(server, request, path);
  if (known !== undefined) return known;
  return isResourcePath(path) && isBuiltInGroup(path)
    ? json(404, JSON.stringify(statusOf(noSuchResource())))
    : { status: 404, text: "404 page not found\n", type: "text/plain; charset=utf-8" };
};

/** Additions to the verbs: subresources that act, and the gate in front of them. */
type Surroundings = { readonly sides: Subresources; readonly gate: Gate };

const answered = (server: Server, { sides, gate }: Surroundings, request: ApiRequest): Result => {
  try {
    gate(request);
    const call = callOf(server, request);
    if (call === undefined) return elsewhere(server, request);
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

export const openApiAccess = (server: Server, around: Surroundings): ApiAccess => {
  const dated: Dated = { second: -1, text: "" };
  const headers = ({ type = "application/json", warnings = [] }: Result): Record<string, string> => ({
    "content-type": type,
    "cache-control": "no-cache, private",
    date: dateOf(server, dated),
    ...(warnings.length > 0 && { warning: warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(", ") }),
  });
  const finish = (result: Result): Answer => ({
    status: result.status,
    headers: headers(result),
    get body() {
      return result.text;
    },
    ...(result.json && { json: result.json }),
  });
  const handle = (request: ApiRequest): Answer => finish(answered(server, around, request));
  return {
    handle,
    watch: (request, feed) => {
      try {
        around.gate(request);
        const call = callOf(server, request);
        if (call === undefined) return handle(request);
        const { target, query, form } = call;
        return openWatch({ server, target, form, feed }, query);
      } catch (error) {
        if (error instanceof Refusal) return finish(json(error.code, JSON.stringify(statusOf(error))));
        throw error;
      }
    },
  };
};

type Pipe = { readonly lines: AsyncIterable<string>; readonly feed: Feed };

/** Lines wait here until the reader takes them. */
const pipe = (onReturn: () => void): Pipe => {
  const waiting: string[] = [];
  let ended = false;
  let wake: (() => void) | undefined;
  const stir = (): void => {
    wake?.();
    wake = undefined;
  };
  const next = async (): Promise<IteratorResult<string>> => {
    while (waiting.length === 0 && !ended)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    const value = waiting.shift();
    return value === undefined ? { done: true, value: undefined } : { done: false, value };
  };
  const finish = async (): Promise<IteratorResult<string>> => {
    ended = true;
    onReturn();
    return { done: true, value: undefined };
  };
  return {
    lines: { [Symbol.asyncIterator]: () => ({ next, return: finish }) },
    feed: {
      line: (text) => {
        waiting.push(text);
        stir();
      },
      end: () => {
        ended = true;
        stir();
      },
    },
  };
};

const streamOf = (access: ApiAccess, request: HttpRequest): HttpStream => {
  let close = (): void => {};
  const { lines, feed } = pipe(() => close());
  const opened = access.watch(request, feed);
  if ("status" in opened) {
    feed.line(opened.body);
    feed.end();
    return { status: opened.status, headers: opened.headers, lines, close: feed.end };
  }
  close = opened.close;
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    lines,
    close: () => {
      opened.close();
      feed.end();
    },
  };
};

/** The API as a Transport, for engine and forwarder in place of a connection. */
export const transportTo = (access: ApiAccess): Transport => ({
  send: async (request) => access.handle(request),
  stream: async (request) => streamOf(access, request),
});
