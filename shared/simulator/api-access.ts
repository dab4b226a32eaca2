/** The API server as one synchronous function from request to answer; watches are opened beside it. */

import type { Ask } from "./ask.ts";
import type { Answer, Call, Result, Sides } from "./call.ts";
import { discovery } from "./discovery.ts";
import type { Gate } from "./gate.ts";
import { formFor } from "./present.ts";
import { noSuchResource, Refusal, statusOf } from "./refusal.ts";
import { review } from "./reviews.ts";
import { isBuiltInGroup, isResourcePath, targetOf } from "./route.ts";
import type { Server } from "./server.ts";
import { json, verbFor } from "./verbs.ts";
import { type Feed, type OpenWatch, openWatch } from "./watch.ts";

export type ApiAccess = {
  handle(ask: Ask): Answer;
  /** Opens a watch, or returns the answer that refuses it. */
  watch(ask: Ask, feed: Feed): OpenWatch | Answer;
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
  const known = ask.method === "GET" ? discovery(server.store, path) : review(server, ask, path);
  if (known !== undefined) return known;
  return isResourcePath(path) && isBuiltInGroup(path)
    ? json(404, JSON.stringify(statusOf(noSuchResource())))
    : { status: 404, text: "404 page not found\n", type: "text/plain; charset=utf-8" };
};

/** Additions to the verbs: subresources that act, and the gate in front of them. */
export type Surroundings = { readonly sides: Sides; readonly gate: Gate };

const answered = (server: Server, { sides, gate }: Surroundings, ask: Ask): Result => {
  try {
    gate(ask);
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
  const handle = (ask: Ask): Answer => finish(answered(server, around, ask));
  return {
    handle,
    watch: (ask, feed) => {
      try {
        around.gate(ask);
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
