/**
 * The transport to a real API server over node:http(s): kept-alive connections, credentials that are renewed, a
 * deadline for every request, typed answers, and streams that are split into lines at byte 0x0A only.
 */

import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { createSecureContext } from "node:tls";
import { ApiError, type HttpRequest, type HttpStream, type Transport } from "../../core/http.ts";
import { longestBytes, openBodies } from "./bodies.ts";
import { type Auth, type Credential, loginOf } from "./credentials.ts";

/** The address of an API server, and how to connect to it. */
export type Endpoint = {
  /** For example `https://10.0.0.1:6443`; a path after it is kept. */
  readonly server: string;
  /** PEM text; absent: the certificates that the machine trusts. */
  readonly ca?: string;
  readonly auth?: Auth;
  /** Accepts any certificate. */
  readonly insecure?: boolean;
  /** The name to expect in the certificate, if it is not the host's. */
  readonly serverName?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly userAgent?: string;
  /** The number of parallel connections beside those of streams; further requests wait, within their time limit. */
  readonly maxSockets?: number;
  /** The proxy to use, e.g. `http://proxy:3128`. */
  readonly proxy?: string;
  /** Opens a pool of connections through a proxy that is none of HTTP. */
  readonly agent?: (options: https.AgentOptions) => http.Agent;
  /** Silence after which a stream is closed, ms; longer than the minute between a watch's bookmarks. */
  readonly stallMs?: number;
};

type Exchange = <T>(request: HttpRequest, read: (incoming: http.IncomingMessage) => Promise<T>) => Promise<T>;

export type Connection = {
  /** Sends one request and reads its answer; after `timeoutMs` no more of the answer is read. */
  readonly exchange: Exchange;
  /** The same for a request whose answer is a stream: it takes no connection from the others. */
  readonly follow: Exchange;
  close(): void;
};

const named = (request: HttpRequest): string => `${request.method} ${request.path.split("?")[0]}`;

/** Returns the error for a request that broke off. */
const failure = (request: HttpRequest, cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const text = cause instanceof Error && cause.message !== "" ? cause.message : code || String(cause);
  const reason = code === "ETIMEDOUT" ? "Timeout" : "Unreachable";
  return new ApiError({ status: 0, reason, message: `${named(request)}: ${text}`, cause });
};

const timeout = (request: HttpRequest, what: string): ApiError =>
  new ApiError({ status: 0, reason: "Timeout", message: `${named(request)}: ${what}` });

type Agents = { readonly requests: http.Agent; readonly streams: http.Agent };

/**
 * Opens the pools of requests and of streams. A watch keeps its connection for minutes, and a host has a dozen of them for
 * each namespace: in one pool they would leave few connections to requests, or none.
 */
const agentsOf = (endpoint: Endpoint, secure: boolean, { cert, key }: Credential): Agents => {
  const most = endpoint.maxSockets ?? 50;
  const usual = {
    keepAlive: true,
    scheduling: "lifo",
    maxFreeSockets: most,
    ...(endpoint.proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: endpoint.proxy, HTTPS_PROXY: endpoint.proxy } }),
  } as const;
  const limited = { ...usual, maxSockets: most };
  const plain = (options: http.AgentOptions): http.Agent => endpoint.agent?.(options) ?? new http.Agent(options);
  if (!secure) return { requests: plain(limited), streams: plain(usual) };
  // All connections share one context: loading the certificates for each costs more than the request.
  const secureContext = createSecureContext({
    ...(endpoint.ca === undefined ? {} : { ca: endpoint.ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  });
  const secured = {
    secureContext,
    rejectUnauthorized: endpoint.insecure !== true,
    ...(endpoint.serverName === undefined ? {} : { servername: endpoint.serverName }),
  };
  const open = (options: https.AgentOptions): http.Agent => endpoint.agent?.(options) ?? new https.Agent(options);
  return { requests: open({ ...limited, ...secured }), streams: open({ ...usual, ...secured }) };
};

/** Closes idle connections, and those in use when their requests have ended. */
const retire = (agent: http.Agent): void => {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
};

/** Holds the pools of the present certificate. A new one opens new pools; requests and streams of the last one go on. */
const openPools = (endpoint: Endpoint, secure: boolean) => {
  const { auth = {} } = endpoint;
  let held = "provider" in auth ? undefined : { ...auth, agents: agentsOf(endpoint, secure, auth) };
  return {
    of: (credential: Credential): Agents => {
      const { cert, key } = credential;
      if (held !== undefined && held.cert === cert && held.key === key) return held.agents;
      const last = held?.agents;
      held = { cert, key, agents: agentsOf(endpoint, secure, credential) };
      if (last !== undefined) for (const agent of [last.requests, last.streams]) retire(agent);
      return held.agents;
    },
    close: (): void => {
      held?.agents.requests.destroy();
      held?.agents.streams.destroy();
    },
  };
};

/** The failure of a request on a reused connection: the server may have closed it before the request arrived. */
class Stale extends Error {
  constructor(cause: unknown) {
    super("connection was closed", { cause });
  }
}

const rereads = 3;

/** Sends a read again if its reused connection was closed. A write may have arrived, so its failure is thrown. */
const reread = async <T>(request: HttpRequest, run: () => Promise<T>): Promise<T> => {
  for (let left = request.method === "GET" ? rereads : 0; ; left -= 1) {
    try {
      return await run();
    } catch (cause) {
      if (left === 0 || !(cause instanceof Stale) || cause.cause instanceof ApiError) throw cause;
    }
  }
};

/** The time limit of one request: `leave` is called with the reason when it has passed. */
type Limit = { late: ApiError | undefined; leave: ((reason: ApiError) => void) | undefined };

/** A credential, and the pool of its certificate. */
type Means = { readonly token: string | undefined; readonly agent: http.Agent };

type Send = (request: HttpRequest, means: Means, limit: Limit) => Promise<http.IncomingMessage>;

const sender = (endpoint: Endpoint, url: URL): Send => {
  const secure = url.protocol === "https:";
  const start = secure ? https.request : http.request;
  const base = url.pathname.replace(/\/$/, "");
  const address = { hostname: url.hostname.replace(/^\[|\]$/g, ""), port: url.port || (secure ? 443 : 80) };
  const common = { accept: "application/json", "user-agent": endpoint.userAgent ?? "rekindle", ...endpoint.headers };
  return (request, { token, agent }, limit) =>
    new Promise((resolve, reject) => {
      const headers: http.OutgoingHttpHeaders = { ...common, ...request.headers };
      if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
      // Node sends a DELETE's body without its length, which servers take for another request.
      if (request.body !== undefined) headers["content-length"] = Buffer.byteLength(request.body);
      const outgoing = start({ ...address, agent, method: request.method, path: base + request.path, headers });
      limit.leave = (reason) => outgoing.destroy(reason);
      outgoing.on("response", resolve);
      outgoing.on("error", (error) => reject(outgoing.reusedSocket ? new Stale(error) : error));
      if (limit.late === undefined) outgoing.end(request.body);
      else outgoing.destroy(limit.late);
    });
};

/** Opens the pool; nothing connects before the first request. */
export const connect = (endpoint: Endpoint): Connection => {
  const url = new URL(endpoint.server);
  const pools = openPools(endpoint, url.protocol === "https:");
  const login = loginOf(endpoint.auth);
  const send = sender(endpoint, url);

  const answer = async (pool: keyof Agents, request: HttpRequest, limit: Limit): Promise<http.IncomingMessage> => {
    const sent = (credential: Credential): Promise<http.IncomingMessage> =>
      send(request, { token: credential.token, agent: pools.of(credential)[pool] }, limit);
    const credential = await login.current(request.timeoutMs);
    const incoming = await sent(credential);
    if (incoming.statusCode !== 401 || endpoint.auth === undefined) return incoming;
    const renewed = await login.renewed(credential, request.timeoutMs);
    if (renewed === credential) return incoming;
    incoming.resume();
    return sent(renewed);
  };

  const exchangeBy =
    (pool: keyof Agents): Exchange =>
    async (request, read) => {
      const limit: Limit = { late: undefined, leave: undefined };
      const timer = setTimeout(() => {
        limit.late = timeout(request, `no answer within ${request.timeoutMs} ms`);
        limit.leave?.(limit.late);
      }, request.timeoutMs);
      try {
        return await reread(request, async () => read(await answer(pool, request, limit)));
      } catch (cause) {
        throw limit.late ?? failure(request, cause instanceof Stale ? cause.cause : cause);
      } finally {
        clearTimeout(timer);
      }
    };

  return { exchange: exchangeBy("requests"), follow: exchangeBy("streams"), close: pools.close };
};

const newline = 0x0a;

/**
 * Yields whole lines, decoded one at a time, without empty ones and without a last part that has no newline. A line
 * longer than `limit` bytes throws an Error, so that a server that sends no newline cannot fill the memory.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>, limit = longestBytes): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      const part = chunk.subarray(from, end);
      const line = rest.length === 0 ? part : Buffer.concat([...rest, part]);
      rest = [];
      held = 0;
      from = end + 1;
      if (line.length > 0) yield line.toString("utf8");
    }
    if (from === chunk.length) continue;
    rest.push(chunk.subarray(from));
    held += chunk.length - from;
    if (held > limit) throw new Error(`a line is longer than ${limit} bytes`);
  }
}

export type ClosableTransport = Transport & { close(): void };

/** Returns the headers, each with one text as its value. */
const headersOf = (incoming: IncomingMessage): Record<string, string> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = typeof value === "string" ? value : value.join(", ");
  }
  return headers;
};

/** An answer of more bytes is long: the caller's parser holds the event loop for milliseconds. */
const longBytes = 256 * 1_024;

/** Waits until the event loop has turned once for each long answer before this one. */
const openTurns = (): (() => Promise<void>) => {
  let last = Promise.resolve();
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)));
    return last;
  };
};

/** Asks for a compressed answer to a read: an API server compresses those of 128 KiB and more, which are pages of lists. */
const askingFor = (request: HttpRequest): HttpRequest =>
  request.method === "GET" ? { ...request, headers: { "accept-encoding": "gzip", ...request.headers } } : request;

async function* once(body: string): AsyncGenerator<string> {
  yield body;
}

/** Returns the lines of a streamed answer: `close` ends them; a broken or silent connection is an error. */
const endless = (request: HttpRequest, incoming: IncomingMessage, stallMs: number): Omit<HttpStream, "status"> => {
  let closed = false;
  const { socket } = incoming;
  const stalled = (): unknown => incoming.destroy(timeout(request, `no data for ${stallMs} ms`));
  socket.setTimeout(stallMs, stalled);
  async function* lines(): AsyncGenerator<string> {
    try {
      yield* linesOf(incoming);
    } catch (cause) {
      if (!closed) throw failure(request, cause);
    } finally {
      socket.off("timeout", stalled);
      incoming.destroy();
    }
  }
  const close = (): void => {
    closed = true;
    incoming.destroy();
  };
  return { headers: headersOf(incoming), lines: lines(), close };
};

/** Opens the transport; nothing connects before the first request. `close` ends all requests in flight. */
export const httpsTransport = (endpoint: Endpoint): ClosableTransport => {
  const { exchange, follow, close } = connect(endpoint);
  const turn = openTurns();
  const bodyOf = openBodies();
  return {
    send: (request) =>
      exchange(askingFor(request), async (incoming) => {
        const body = await bodyOf(request, incoming);
        if (body.length > longBytes) await turn();
        return { status: incoming.statusCode ?? 0, headers: headersOf(incoming), body };
      }),
    stream: (request) =>
      follow(request, async (incoming) => {
        const status = incoming.statusCode ?? 0;
        if (status === 200) return { status, ...endless(request, incoming, endpoint.stallMs ?? 90_000) };
        return { status, headers: headersOf(incoming), lines: once(await bodyOf(request, incoming)), close: () => {} };
      }),
    close,
  };
};
