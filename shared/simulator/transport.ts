/** The door as a Transport, for engine and forwarder in place of a connection. */
import type { HttpRequest, HttpStream, Transport } from "../core/http.ts";
import type { ApiAccess } from "./api-access.ts";
import type { Feed } from "./watch.ts";

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

const streamOf = (door: ApiAccess, request: HttpRequest): HttpStream => {
  let close = (): void => {};
  const { lines, feed } = pipe(() => close());
  const opened = door.watch(request, feed);
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

export const transportTo = (door: ApiAccess): Transport => ({
  send: async (request) => door.handle(request),
  stream: async (request) => streamOf(door, request),
});
