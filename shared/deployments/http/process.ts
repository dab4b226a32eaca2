/** The HTTP functions as processes: each is a hono app behind the listener of an HTTP server. */
import { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { getRequestListener, type Http2Bindings, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { HTTPException } from "hono/http-exception";
import { lazyBody } from "./request-body.ts";
import { type Answering, listenUntil, type Receive, type Served } from "./server.ts";

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

type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>;

/** Returns the body of a request, which is received when the app first reads it. It fails if the request ends before. */
const bodyOf = (receive: Receive): ReadableStream<Uint8Array> =>
  lazyBody(async () => {
    const body = await receive();
    if (body === undefined) throw new HTTPException(408);
    return new Uint8Array(body);
  });

const hasBody = ({ method, headers }: IncomingMessage): boolean =>
  method !== "GET" &&
  method !== "HEAD" &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0);

const isOfPort = (env: HttpBindings | Http2Bindings): env is HttpBindings => env.incoming instanceof IncomingMessage;

/** Answers by `fetch`, once the declared body has arrived or has been dropped. */
const answered = async (fetch: Fetch, request: Request, env: HttpBindings): Promise<Response> => {
  const response = await fetch(request, env);
  const { incoming, outgoing } = env;
  if (outgoing.headersSent) return RESPONSE_ALREADY_SENT;
  const declared = incoming.headers["content-length"];
  if (declared === undefined) return response;
  if (!incoming.complete && Number(declared) <= largestBytes) await drained(incoming);
  if (!incoming.complete) response.headers.set("connection", "close");
  return response;
};

/**
 * Returns the listener of `fetch`. The app begins before the body has arrived, so that a refusal that needs no body waits
 * for none. An answer waits until the declared body has arrived: a server that closes a connection on which its client
 * still sends resets it, and the client may never read the answer. A body that is too large, or still not there after
 * half a second, ends its connection: the rest would stay in the connection, and the next request on it, maybe of another
 * client behind the same proxy, would get no answer. A body without a declared length may have no end: the library drains
 * its connection for half a second and closes it.
 */
export const requestListener = (fetch: Fetch): Answering => {
  const receivers = new WeakMap<object, Receive>();
  const listener = getRequestListener((request, env) => {
    const receive = receivers.get(env.incoming);
    if (!isOfPort(env) || receive === undefined) throw new Error("a request of another server");
    if (!hasBody(env.incoming)) return answered(fetch, request, env);
    const { url, method, headers } = request;
    return answered(fetch, new Request(url, { method, headers, body: bodyOf(receive), duplex: "half" }), env);
  });
  return (incoming, outgoing, receive) => {
    receivers.set(incoming, receive);
    void listener(incoming, outgoing);
  };
};

type App = { readonly fetch: (request: Request) => Response | Promise<Response> };

/** Serves until `stopped`; requests in flight are answered. */
export const serveUntil = (settings: Served, app: App, stopped: Promise<void>, longest?: number): Promise<void> =>
  listenUntil(settings, requestListener(app.fetch), stopped, longest);
