/** The HTTP functions as processes: each is a hono app behind the listener of an HTTP server. */
import type { RequestListener } from "node:http";
import type { Readable } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { listenUntil, type Served } from "./server.ts";

/** The longest time for which a body that nobody reads is received, ms. */
const longestMs = 500;
/** The largest declared body that is received although nobody reads it, bytes. */
const largestBytes = 16 * 1_024 * 1_024;

/** Receives the rest of a body and drops it. Resolves at its end, at an error, and after `longestMs`. */
const drained = (incoming: Readable): Promise<void> =>
  new Promise((resolve) => {
    const stop = (): void => {
      clearTimeout(timer);
      for (const event of ["end", "error", "close"]) incoming.off(event, stop);
      resolve();
    };
    const timer = setTimeout(stop, longestMs);
    for (const event of ["end", "error", "close"]) incoming.once(event, stop);
    // A reader of the body that has stopped reading would pause it.
    incoming.removeAllListeners("data").resume();
  });

/**
 * Returns the listener of `fetch`. An answer waits until the declared body has arrived: a server that closes a
 * connection on which its client still sends resets it, and the client may never read the answer. A body that is too
 * large, or still not there after half a second, ends its connection: the rest would stay in the connection, and the
 * next request on it, maybe of another client behind the same proxy, would get no answer. A body without a declared
 * length may have no end: the library drains its connection for half a second and closes it.
 */
export const requestListener = (fetch: Parameters<typeof getRequestListener>[0]): RequestListener =>
  getRequestListener(async (request, env) => {
    const response = await fetch(request, env);
    const { incoming } = env;
    if (!(response instanceof Response) || !("complete" in incoming)) return response;
    const declared = incoming.headers["content-length"];
    if (declared === undefined) return response;
    if (!incoming.complete && Number(declared) <= largestBytes) await drained(incoming);
    if (!incoming.complete) response.headers.set("connection", "close");
    return response;
  });

type App = { readonly fetch: (request: Request) => Response | Promise<Response> };

/** Serves until `stopped`; requests in flight are answered. */
export const serveUntil = (settings: Served, app: App, stopped: Promise<void>, longest?: number): Promise<void> =>
  listenUntil(settings, requestListener(app.fetch), stopped, longest);
