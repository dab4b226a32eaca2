/**
 * The HTTP server of each process, over TLS if a certificate is set, with its bounds of time, connections and bodies; a
 * function as a process, which listens until a signal stops it; and the health endpoints by which the kubelet probes it.
 */
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import type { Server as NetServer, Socket } from "node:net";
import { lineReport } from "../../adapters/telemetry/lines.ts";
import type { Settings } from "../settings/read.ts";
import { type Address, addressOf } from "./address.ts";
import { openBodies } from "./bodies.ts";
import { boundConnections } from "./connections.ts";

/** What a port bears, whoever calls it. `highWaterMark`: bytes that a connection holds of a body that waits. */
const bounds = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  highWaterMark: 16_384,
} as const;

const mostConnections = 512;
/** Bytes of all bodies that a port holds at one time; at least four of the longest. */
const bodyBytes = 8 * 1_024 * 1_024;
/** The longest body of a port that says nothing else, bytes. */
const usualBody = 262_144;

export type Secure = {
  readonly cert: Buffer | string;
  readonly key: Buffer | string;
  /** CA of client certificates: a client must present a certificate that it signed. */
  readonly ca?: Buffer;
  readonly requestCert?: true;
};

export type Served = Pick<
  Settings<"submitter">,
  "listen" | "logLevel" | "tlsCertFile" | "tlsKeyFile" | "tlsClientCaFile"
>;

/**
 * Reads certificate and key, and the CA of clients if one is set; undefined where none of them is set. Throws where
 * only one of certificate and key is set.
 */
const certificateOf = async (settings: Served): Promise<Secure | undefined> => {
  const { tlsCertFile: certificate, tlsKeyFile: privateKey, tlsClientCaFile: clientCa } = settings;
  if (certificate === undefined && privateKey === undefined && clientCa === undefined) return undefined;
  if (certificate === undefined || privateKey === undefined)
    throw new Error("set both REKINDLE_TLS_CERT_FILE and REKINDLE_TLS_KEY_FILE, or neither");
  const own = { cert: await readFile(certificate), key: await readFile(privateKey) };
  return clientCa === undefined ? own : { ...own, ca: await readFile(clientCa), requestCert: true };
};

/**
 * Receives the body of a request within the bound of its port; of one that is too long, nothing or a part that is longer
 * than the longest. Undefined: the request has ended.
 */
export type Receive = () => Promise<Buffer | undefined>;

/** Answers a request. A body that `receive` does not ask for takes no room of the port. */
export type Answering = (request: IncomingMessage, response: ServerResponse, receive: Receive) => void;

/** The latest answer of a connection, and the bytes that it had read when the request came. */
type Answered = { readonly response: ServerResponse; readonly read: number };

/**
 * True for a request that came before the answer to the one before was written, or in one piece with it. That the answer
 * has left is no measure: over TLS a client may have it, and send its next request, before Node says so.
 */
const isAhead = ({ bytesRead }: Socket, before: Answered | undefined): boolean =>
  before !== undefined && (!before.response.writableEnded || before.read === bytesRead);

/**
 * Answers requests whose bodies share the bound of the port. A connection that sends a request before it has the answer
 * to the one before is ended: no client of these ports does so, and hundreds in one piece would hold up everybody else.
 */
const receiving = (answer: Answering, longest: number): RequestListener => {
  const bodies = openBodies({ longest, total: Math.max(bodyBytes, 4 * longest) });
  const answers = new WeakMap<Socket, Answered>();
  return (request, response) => {
    const { socket } = request;
    if (socket.destroyed || isAhead(socket, answers.get(socket))) return void socket.destroy();
    answers.set(socket, { response, read: socket.bytesRead });
    answer(request, response, () => bodies.receive(request, response));
  };
};

/** Makes the server of a port, with the port's bounds. `longest`: the longest body, bytes. */
export const openPort = (answer: Answering, longest = usualBody): Server => {
  const server = createServer(bounds, receiving(answer, longest));
  boundConnections(server, mostConnections);
  return server;
};

/** The same over TLS. */
export const openSecurePort = (answer: Answering, secure: Secure, longest = usualBody): SecureServer => {
  const options = { ...secure, ...bounds, minVersion: "TLSv1.2", handshakeTimeout: 5_000 } as const;
  const server = createSecureServer(options, receiving(answer, longest));
  boundConnections(server, mostConnections);
  return server;
};

/** Listens at an address; returns the port, which the kernel chooses for 0. `remedy`: the end of the error's message. */
export const listenAt = (server: NetServer, { hostname, port }: Address, remedy = ""): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new Error(`cannot listen on ${hostname}:${port}: ${cause.message}${remedy}`, { cause })),
    );
    server.listen({ host: hostname, port }, () => {
      const bound = server.address();
      resolve(typeof bound === "object" && bound !== null ? bound.port : port);
    });
  });

/** Listens until `stopped`; requests in flight are answered. */
export const listenUntil = async (
  settings: Served,
  answer: Answering,
  stopped: Promise<void>,
  longest = usualBody,
): Promise<void> => {
  const { listen, logLevel } = settings;
  const secure = await certificateOf(settings);
  const server = secure === undefined ? openPort(answer, longest) : openSecurePort(answer, secure, longest);
  await listenAt(server, addressOf(listen));
  lineReport(logLevel)("info", "serving", { listen, secure: secure !== undefined });
  await stopped;
  await new Promise((resolve) => server.close(resolve));
};

/** Resolves with SIGTERM or SIGINT. */
export const stopped = (): Promise<void> =>
  new Promise((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });

const known = new Set(["/healthz", "/readyz"]);

/**
 * Serves /healthz and /readyz until the process is stopped; returns at once without an address. A process that answers
 * is healthy, because a failure ends it.
 */
export const tellHealth = async (
  { listen }: Pick<Settings<"wake">, "listen">,
  until: Promise<void> = stopped(),
): Promise<void> => {
  if (listen === undefined) return;
  const server = openPort(({ url = "" }, answer) => {
    answer.writeHead(known.has(url) ? 200 : 404).end();
  });
  await listenAt(server, addressOf(listen));
  await until;
  await new Promise((resolve) => server.close(resolve));
};
