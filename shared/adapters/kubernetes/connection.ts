/** A pool of kept-alive connections to one endpoint: sends a request and returns its answer within the time limit. */
import http from "node:http";
import https from "node:https";
import { createSecureContext } from "node:tls";
import { ApiError } from "../../core/errors.ts";
import type { HttpRequest } from "../../core/http.ts";
import { type Auth, credentials } from "./credentials.ts";

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
  readonly headers?: Readonly<Record<string, string>>;
  readonly userAgent?: string;
  /** The number of parallel connections; further requests wait, within their time limit. */
  readonly maxSockets?: number;
  /** The proxy to use, e.g. `http://proxy:3128`. */
  readonly proxy?: string;
  /** Silence after which a stream is closed, ms; longer than the minute between a watch's bookmarks. */
  readonly stallMs?: number;
};

/** Sends one request and reads its answer; after `timeoutMs` no more of the answer is read. */
export type Connection = {
  exchange<T>(request: HttpRequest, read: (incoming: http.IncomingMessage) => Promise<T>): Promise<T>;
  close(): void;
};

const named = (request: HttpRequest): string => `${request.method} ${request.path.split("?")[0]}`;

/** Returns the error for a request that broke off. */
export const failure = (request: HttpRequest, cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const text = cause instanceof Error && cause.message !== "" ? cause.message : code || String(cause);
  const reason = code === "ETIMEDOUT" ? "Timeout" : "Unreachable";
  return new ApiError({ status: 0, reason, message: `${named(request)}: ${text}`, cause });
};

export const timeout = (request: HttpRequest, what: string): ApiError =>
  new ApiError({ status: 0, reason: "Timeout", message: `${named(request)}: ${what}` });

const agentOf = (endpoint: Endpoint, secure: boolean): http.Agent => {
  const pooled = {
    keepAlive: true,
    scheduling: "lifo",
    maxSockets: endpoint.maxSockets ?? 50,
    maxFreeSockets: endpoint.maxSockets ?? 50,
    ...(endpoint.proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: endpoint.proxy, HTTPS_PROXY: endpoint.proxy } }),
  } as const;
  if (!secure) return new http.Agent(pooled);
  const { auth } = endpoint;
  // All connections share one context: loading the certificates for each costs more than the request.
  const secureContext = createSecureContext({
    ...(endpoint.ca === undefined ? {} : { ca: endpoint.ca }),
    ...(auth !== undefined && "cert" in auth ? { cert: auth.cert, key: auth.key } : {}),
  });
  return new https.Agent({
    ...pooled,
    secureContext,
    rejectUnauthorized: endpoint.insecure !== true,
    ...(endpoint.serverName === undefined ? {} : { servername: endpoint.serverName }),
  });
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

type Send = (request: HttpRequest, token: string | undefined, limit: Limit) => Promise<http.IncomingMessage>;

const sender = (endpoint: Endpoint, url: URL, agent: http.Agent): Send => {
  const secure = url.protocol === "https:";
  const start = secure ? https.request : http.request;
  const base = url.pathname.replace(/\/$/, "");
  const address = { hostname: url.hostname.replace(/^\[|\]$/g, ""), port: url.port || (secure ? 443 : 80) };
  const common = { accept: "application/json", "user-agent": endpoint.userAgent ?? "rekindle", ...endpoint.headers };
  return (request, token, limit) =>
    new Promise((resolve, reject) => {
      const headers: Record<string, string | number> = { ...common, ...request.headers };
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
  const agent = agentOf(endpoint, url.protocol === "https:");
  const send = sender(endpoint, url, agent);
  const login = credentials(endpoint.auth);

  const answer = async (request: HttpRequest, limit: Limit): Promise<http.IncomingMessage> => {
    const token = await login.token(request.timeoutMs);
    const incoming = await send(request, token, limit);
    if (incoming.statusCode !== 401 || !login.renews) return incoming;
    incoming.resume();
    return send(request, await login.renewed(token, request.timeoutMs), limit);
  };

  return {
    exchange: async (request, read) => {
      const limit: Limit = { late: undefined, leave: undefined };
      const timer = setTimeout(() => {
        limit.late = timeout(request, `no answer within ${request.timeoutMs} ms`);
        limit.leave?.(limit.late);
      }, request.timeoutMs);
      try {
        return await reread(request, async () => read(await answer(request, limit)));
      } catch (cause) {
        throw limit.late ?? failure(request, cause instanceof Stale ? cause.cause : cause);
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => agent.destroy(),
  };
};
