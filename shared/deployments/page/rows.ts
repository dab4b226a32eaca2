/**
 * Rows as the page's server sends them: the beginning of the list, and all rows. An answer is made and compressed once per
 * change, and shared by all viewers of the same namespaces.
 */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Context } from "hono";
import { forgetOldest } from "../../core/cache.ts";
import type { Batch } from "../../page/wire.ts";
import type { Board } from "./board.ts";
import type { Viewer } from "./session.ts";

/** A text as gzip: the only form that is kept. */
export type Compressed = Uint8Array<ArrayBuffer>;

const [gzipped, gunzipped] = [promisify(gzip), promisify(gunzip)];

export const compressed = async (text: string): Promise<Compressed> => Uint8Array.from(await gzipped(text));

/** Sends a text in the form that the client accepts. */
export const sent = async (c: Context, text: Compressed, headers: Readonly<Record<string, string>>) => {
  const isAccepted = /\bgzip\b/.test(c.req.header("accept-encoding") ?? "");
  return isAccepted
    ? c.body(text, 200, { ...headers, vary: "accept-encoding", "content-encoding": "gzip" })
    : c.body(Uint8Array.from(await gunzipped(text)), 200, { ...headers, vary: "accept-encoding" });
};

/** The most answers that are kept: of all rows, and of each filter, by namespaces. */
const mostAnswers = 16;
/** A filter of more characters is cut off. */
const longestFilter = 300;

type Answer = { readonly revision: number; readonly at: number; readonly made: Promise<Compressed> };

export type SharedRows = (c: Context, viewer: Viewer) => Promise<Response>;

/** Answers `/page/rows`: with `?part=first&filter=` the beginning of the list. */
export const openSharedRows = (board: Board, isStreamed: boolean): SharedRows => {
  const answers = new Map<string, Answer>();
  const make = (key: string, value: () => object): Answer => {
    const made: Answer = { revision: board.revision(), at: Date.now(), made: compressed(JSON.stringify(value())) };
    answers.delete(key);
    answers.set(key, made);
    forgetOldest(answers, mostAnswers);
    return made;
  };
  const answerFor = (key: string, value: () => object): Answer => {
    const known = answers.get(key);
    return known?.revision === board.revision() ? known : make(key, value);
  };
  return async (c, { namespaces }) => {
    const filter = (c.req.query("filter") ?? "").slice(0, longestFilter);
    const isFirst = c.req.query("part") === "first";
    const all = (): Batch => ({ ...board.read(namespaces), ...(isStreamed ? {} : { isPolled: true }) });
    const key = JSON.stringify(isFirst ? [namespaces, filter] : [namespaces]);
    const { at, made } = answerFor(key, isFirst ? () => board.first(namespaces, filter) : all);
    const age = String(Math.floor((Date.now() - at) / 1_000));
    return sent(c, await made, { "content-type": "application/json", "cache-control": "no-store", age });
  };
};
