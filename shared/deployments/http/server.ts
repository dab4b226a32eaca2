/**
 * A function as a process: an HTTP server, over TLS if a certificate is set, that listens until a signal stops it, and
 * the health endpoints by which the kubelet probes it. Timeouts keep a client that sends slowly from holding a
 * connection for long.
 */
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { lineReport } from "../../adapters/telemetry/lines.ts";
import type { Settings } from "../settings/read.ts";

export const httpTimeouts = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
} as const;

type Secure = {
  readonly cert: Buffer;
  readonly key: Buffer;
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

/** Listens on `HOST:PORT`. */
const listening = (server: Server, listen: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const at = listen.lastIndexOf(":");
    server.once("error", (cause) => reject(new Error(`cannot listen on ${listen}: ${cause.message}`, { cause })));
    server.listen({ host: listen.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(listen.slice(at + 1)) }, resolve);
  });

/** Listens until `stopped`; requests in flight are answered. */
export const listenUntil = async (settings: Served, answer: RequestListener, stopped: Promise<void>): Promise<void> => {
  const { listen, logLevel } = settings;
  const secure = await certificateOf(settings);
  const server =
    secure === undefined
      ? createServer(httpTimeouts, answer)
      : createSecureServer({ ...secure, ...httpTimeouts }, answer);
  await listening(server, listen);
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
  const server = createServer(({ url = "" }, answer) => {
    answer.writeHead(known.has(url) ? 200 : 404).end();
  });
  await listening(server, listen);
  await until;
  await new Promise((resolve) => server.close(resolve));
};
