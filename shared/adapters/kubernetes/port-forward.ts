/**
 * A local port that leads to an HTTP port of a pod, through the API server's pod proxy: it needs no tunnel, and no
 * rights beyond pods/proxy.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { HttpRequest } from "../../core/http.ts";
import { errorText } from "../../core/text.ts";
import { objectPath } from "../../kube/paths.ts";
import { pods } from "../../kube/resources.ts";
import { type Connection, connect, type Endpoint } from "./https.ts";

export type PortForward = { readonly url: string; close(): Promise<void> };

/** The target. `pod` is called for every request, because the next attempt has another pod. */
export type PortForwardTarget = {
  readonly namespace: string;
  readonly pod: () => Promise<string>;
  readonly port: number;
};

export type Local = { readonly address: string; readonly port: number };

const timeoutMs = 60_000;

/** The headers that web pages need; credentials and host names are not passed on. */
const sentOn = ["accept", "accept-language", "content-type", "if-none-match", "if-modified-since", "x-requested-with"];
const sentBack = [
  ...["content-type", "content-length", "content-encoding", "content-disposition"],
  ...["cache-control", "etag", "last-modified", "location"],
];

const methods: Readonly<Record<string, HttpRequest["method"]>> = {
  GET: "GET",
  POST: "POST",
  PUT: "PUT",
  DELETE: "DELETE",
};

const picked = (incoming: IncomingMessage, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = incoming.headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );

/**
 * True if the request names this machine as its host: rejects pages of other sites whose name resolves to this machine.
 */
const isLocal = ({ headers }: IncomingMessage): boolean =>
  /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(headers.host ?? "");

/**
 * Returns the path below the proxy. The pod proxy writes its own path into pages and redirects, so links with and
 * without it lead to the same place.
 */
const pathBelow = (prefix: string, path: string): string => {
  const { pathname, search } = new URL(path.replace(/^\/+/, "/"), "http://pod");
  const below = pathname.startsWith(`${prefix}/`) ? pathname.slice(prefix.length) : pathname;
  return `${prefix}${below}${search}`;
};

const fail = (outgoing: ServerResponse, status: number, message: string): void => {
  if (!outgoing.headersSent) outgoing.writeHead(status, { "content-type": "text/plain" });
  outgoing.end(`${message}\n`);
};

const pass = async (
  connection: Connection,
  leading: PortForwardTarget,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> => {
  const method = methods[incoming.method ?? ""];
  if (!isLocal(incoming) || method === undefined)
    return fail(outgoing, 403, "forbidden: only pages of this machine may use this port");
  const ref = { resource: pods, namespace: leading.namespace, name: `${await leading.pod()}:${leading.port}` };
  const prefix = decodeURIComponent(objectPath(ref, "proxy"));
  const path = pathBelow(prefix, incoming.url ?? "/");
  const body = method === "GET" ? {} : { body: await text(incoming) };
  await connection.exchange({ method, path, headers: picked(incoming, sentOn), timeoutMs, ...body }, async (answer) => {
    const headers = picked(answer, sentBack);
    const location = headers["location"]?.replace(prefix, "");
    outgoing.writeHead(answer.statusCode ?? 502, { ...headers, ...(location === undefined ? {} : { location }) });
    await pipeline(answer, outgoing);
  });
};

/** Opens the port; 0 chooses a free one. */
export const openPortForward = async (
  endpoint: Endpoint,
  leading: PortForwardTarget,
  local: Local,
): Promise<PortForward> => {
  const connection = connect(endpoint);
  const server = createServer((incoming, outgoing) => {
    pass(connection, leading, incoming, outgoing).catch((cause: unknown) => fail(outgoing, 502, errorText(cause)));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new Error(`cannot listen on ${local.address}:${local.port}: ${cause.message}; choose another --port`)),
    );
    server.listen(local.port, local.address, resolve);
  });
  const bound = server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : local.port;
  return {
    url: `http://${local.address.includes(":") ? `[${local.address}]` : local.address}:${port}/`,
    close: () =>
      new Promise((resolve) => {
        connection.close();
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};
