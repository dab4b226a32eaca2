/** The listener of an HTTP server for a hono app. */
import type { RequestListener } from "node:http";
import { getRequestListener } from "@hono/node-server";

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
