/** The HTTP functions as processes: each is a hono app behind the listener of an HTTP server. */
import type { RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { listenUntil, type Served } from "./server.ts";

/**
 * Returns the listener of `fetch`. An answer that comes before the whole body has arrived ends its connection: a body
 * that nobody reads stays in the connection, and the next request on it, maybe of another client behind the same proxy,
 * would get no answer. A body without a declared length may have no end: its connection is drained for half a second
 * and closed by the library, so that its sender can read the answer.
 */
export const requestListener = (fetch: Parameters<typeof getRequestListener>[0]): RequestListener =>
  getRequestListener(async (request, env) => {
    const response = await fetch(request, env);
    const { incoming } = env;
    const isPartial = "complete" in incoming && !incoming.complete;
    if (response instanceof Response && isPartial && incoming.headers["content-length"] !== undefined)
      response.headers.set("connection", "close");
    return response;
  });

type App = { readonly fetch: (request: Request) => Response | Promise<Response> };

/** Serves until `stopped`; requests in flight are answered. */
export const serveUntil = (settings: Served, app: App, stopped: Promise<void>): Promise<void> =>
  listenUntil(settings, requestListener(app.fetch), stopped);
