/**
 * A connection to NATS, opened by its first use. The client library is loaded then; it follows the server through
 * restarts, and reads the credentials again for each connection. An error of NATS or JetStream becomes one line that
 * names the queue and what to change.
 */

import type { Authenticator, Msg, NatsConnection } from "@nats-io/transport-node";
import * as z from "zod";
import { ApiError } from "../../core/http.ts";

type Meaning = { readonly reason: string; readonly text: string };

/** By the name of the client's error. */
const byName: Readonly<Record<string, Meaning>> = {
  AuthorizationError: {
    reason: "QueueForbidden",
    text: "the server refuses the credentials: correct REKINDLE_NATS_CREDENTIALS",
  },
  UserAuthenticationExpiredError: {
    reason: "QueueForbidden",
    text: "the credentials have expired: renew REKINDLE_NATS_CREDENTIALS",
  },
  PermissionViolationError: {
    reason: "QueueForbidden",
    text: "no permission: allow this user the subjects that infra/kubernetes/overlays/nats lists",
  },
  NoResponders: {
    reason: "QueueMissing",
    text: "no such stream, or JetStream is off on this server: enable jetstream in its configuration",
  },
  TimeoutError: { reason: "QueueUnreachable", text: "no answer in time" },
  ConnectionError: { reason: "QueueUnreachable", text: "the server cannot be reached" },
  ConnectionLost: { reason: "QueueUnreachable", text: "the connection is lost again and again" },
};

/** By JetStream's code of an error. */
const byCode: Readonly<Record<number, Meaning>> = {
  10023: { reason: "QueueThrottled", text: "the server has no resources left for it" },
  10039: {
    reason: "QueueForbidden",
    text: "JetStream is off for this account: enable it in the server's configuration",
  },
  10047: { reason: "QueueThrottled", text: "the server has no storage left: give JetStream more, or remove streams" },
  10054: { reason: "QueueRefused", text: "the message is larger than the stream takes" },
  10059: { reason: "QueueMissing", text: "there is no such stream: it is created again by the next request" },
  10076: { reason: "QueueUnreachable", text: "JetStream is not available at the moment" },
};

/** The error that JetStream answers with. */
export type JetStreamError = { readonly err_code: number; readonly description: string };

/** Codes of JetStream's errors that are no failures to this adapter. */
export const streamMissing = 10_059;
export const messageMissing = 10_037;
export const noSuchSequence = 10_043;
/** A condition on the last sequence of a subject does not hold; or another request with one is under way. */
export const wrongSequence: ReadonlySet<number> = new Set([10_071, 10_164]);

/** Thrown for an answer that is an error; the caller may know its code. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: number;
  constructor({ err_code, description }: JetStreamError) {
    super(description);
    this.code = err_code;
  }
}

/** Thrown for a request whose connection was lost before its answer. */
class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

const firstLine = (text: string): string => text.split("\n")[0]?.slice(0, 300) ?? "";

/** The client wraps some errors. */
const innermost = (cause: unknown): unknown =>
  cause instanceof Error && cause.name === "RequestError" && cause.cause !== undefined ? cause.cause : cause;

const meaningOf = (cause: unknown): Meaning => {
  if (cause instanceof Refused)
    return byCode[cause.code] ?? { reason: "QueueRefused", text: `${firstLine(cause.message)} (${cause.code})` };
  if (!(cause instanceof Error)) return { reason: "QueueUnreachable", text: firstLine(String(cause)) };
  const known = Object.hasOwn(byName, cause.name) ? byName[cause.name] : undefined;
  return known ?? { reason: "QueueUnreachable", text: firstLine(cause.message) || cause.name };
};

/** Returns the error to throw. The error contains nothing of a message. */
export const refusalOf = (what: string, queue: string, cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause;
  const { reason, text } = meaningOf(innermost(cause));
  return new ApiError({ status: 0, reason, message: `NATS ${what} ${queue}: ${text}`, cause });
};

/** True for an error after which the same request may succeed: the server restarts, or has just lost its leader. */
export const isPassing = (cause: unknown): boolean => {
  const inner = innermost(cause);
  if (inner instanceof Refused) return [10_023, 10_076].includes(inner.code);
  return inner instanceof Error && ["TimeoutError", "NoResponders", "ConnectionLost"].includes(inner.name);
};

export type NatsAddress = {
  /** `nats://host:4222` or `tls://host:4222`, one for each server of a cluster. */
  readonly servers: readonly string[];
  /** Name of the connection in the server's monitoring. */
  readonly name: string;
  /** PEM file of the authority that signed the server's certificate; absent: those of Node. */
  readonly caFile?: string | undefined;
  /** Returns a token, the seed of an nkey, or the text of a credentials file. */
  readonly credentials?: (() => Promise<string>) | undefined;
};

export type Headers = Readonly<Record<string, string>>;

/** A message as it arrives. `status`: a code of the server in place of a message. */
export type Arrived = {
  readonly subject: string;
  readonly reply: string;
  readonly body: string;
  readonly status: number | undefined;
  readonly description: string;
};

export type Nats = {
  /**
   * Sends a request and returns its answer, parsed. An answer of JetStream that is an error throws `Refused`. Failures
   * that pass are retried for some seconds: each request must be one that may be repeated.
   */
  ask(subject: string, payload?: object | string, headers?: Headers): Promise<unknown>;
  /** Sends without an answer. */
  tell(subject: string, payload: object | string, reply?: string): void;
  /** Calls `hear` for each message on the subject until the returned function is called. */
  listen(subject: string, hear: (arrived: Arrived) => void): () => void;
  /** Returns a subject of its own for answers. */
  inbox(): string;
  /** Counts connections: it grows whenever the client has connected again. */
  epoch(): number;
  /** Calls `hear` after each further connection. */
  onReconnect(hear: () => void): void;
  close(): Promise<void>;
};

const tryMs = 5_000;
/** The longest that a request is repeated, ms. */
const askMs = 12_000;
const againMs = 200;
const reconnectMs = 250;
const pingMs = 10_000;

const errorShape = z.object({ error: z.object({ err_code: z.number().catch(0), description: z.string().catch("") }) });

const textOf = (payload: object | string): string => (typeof payload === "string" ? payload : JSON.stringify(payload));

const arrivedOf = (message: Msg): Arrived => ({
  subject: message.subject,
  reply: message.reply ?? "",
  body: message.string(),
  status: message.headers !== undefined && message.headers.code > 0 ? message.headers.code : undefined,
  description: message.headers?.description ?? "",
});

/** The answers of JetStream's API are JSON; acknowledgements of acknowledgements are empty. */
const answerIn = (message: Msg): unknown => {
  if (message.data.length === 0) return undefined;
  const answer: unknown = JSON.parse(message.string());
  const failed = errorShape.safeParse(answer);
  if (failed.success) throw new Refused(failed.data.error);
  return answer;
};

/** Connects; the text of the credentials is read again whenever the connection is lost. */
const connected = async (address: NatsAddress, onUp: () => void): Promise<NatsConnection> => {
  const { servers, name, caFile, credentials } = address;
  const { connect, credsAuthenticator, nkeyAuthenticator, tokenAuthenticator } = await import("./library.ts");
  /** Returns what proves the client by the form of the text: a credentials file, the seed of an nkey, or a token. */
  const proofOf = (secret: string): Authenticator => {
    const bytes = new TextEncoder().encode(secret);
    if (secret.includes("BEGIN NATS USER JWT")) return credsAuthenticator(bytes);
    return /^SU[A-Z2-7]{50,}$/.test(secret) ? nkeyAuthenticator(bytes) : tokenAuthenticator(secret);
  };
  let text = (await credentials?.())?.trim();
  const authenticator: Authenticator = (nonce) => (text === undefined ? undefined : proofOf(text)(nonce));
  const isTls = caFile !== undefined || servers.some((server) => server.startsWith("tls://"));
  const connection = await connect({
    servers: [...servers],
    name,
    authenticator,
    timeout: tryMs,
    pingInterval: pingMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectMs,
    reconnectJitter: reconnectMs,
    // A refused credential may be one that is being renewed.
    ignoreAuthErrorAbort: true,
    ...(isTls ? { tls: caFile === undefined ? {} : { caFile } } : {}),
  });
  const following = async (): Promise<void> => {
    for await (const { type } of connection.status()) {
      if (type === "disconnect") text = (await credentials?.().catch(() => text))?.trim();
      if (type === "reconnect") onUp();
    }
  };
  void following();
  return connection;
};

/** Requests without an answer yet. They are lost with their connection. */
type UnderWay = Set<() => void>;

type Request = { readonly subject: string; readonly payload: object | string; readonly headers: Headers };

const askOnce = async (
  connection: NatsConnection,
  { subject, payload, headers }: Request,
  underWay: UnderWay,
): Promise<unknown> => {
  const { headers: newHeaders } = await import("./library.ts");
  const marked = newHeaders();
  for (const [name, value] of Object.entries(headers)) marked.set(name, value);
  const reply = connection.request(subject, textOf(payload), { timeout: tryMs, headers: marked });
  const { promise: lost, reject } = Promise.withResolvers<never>();
  const lose = (): void => reject(new ConnectionLost("the connection was lost"));
  underWay.add(lose);
  try {
    return answerIn(await Promise.race([reply, lost]));
  } finally {
    underWay.delete(lose);
    reply.catch(() => {});
  }
};

/** Repeats what fails and may pass, for some seconds. */
const patiently = async <T>(once: () => Promise<T>): Promise<T> => {
  for (const until = performance.now() + askMs; ; ) {
    try {
      return await once();
    } catch (cause) {
      if (!isPassing(cause) || performance.now() > until) throw cause;
      await new Promise((resolve) => setTimeout(resolve, againMs));
    }
  }
};

export const openNats = (address: NatsAddress): Nats => {
  let opening: Promise<NatsConnection> | undefined;
  let current: NatsConnection | undefined;
  let epoch = 0;
  const hearers: (() => void)[] = [];
  const underWay: UnderWay = new Set();
  const connectedAgain = (): void => {
    epoch += 1;
    // The server that is there now knows nothing of them.
    for (const lose of underWay) lose();
    for (const hear of hearers) hear();
  };
  const open = async (): Promise<NatsConnection> => {
    opening ??= connected(address, connectedAgain);
    try {
      current = await opening;
      return current;
    } catch (cause) {
      opening = undefined;
      throw cause;
    }
  };
  const used = (): NatsConnection => {
    if (current === undefined) throw new Error("the connection to NATS is not open");
    return current;
  };
  return {
    ask: (subject, payload = "", headers = {}) =>
      patiently(async () => await askOnce(await open(), { subject, payload, headers }, underWay)),
    tell: (subject, payload, reply) => used().publish(subject, textOf(payload), reply === undefined ? {} : { reply }),
    listen: (subject, hear) => {
      const subscription = used().subscribe(subject, {
        callback: (error, message) => {
          if (error === null || error === undefined) hear(arrivedOf(message));
        },
      });
      return () => subscription.unsubscribe();
    },
    inbox: () => `_INBOX.${crypto.randomUUID().replaceAll("-", "")}`,
    epoch: () => epoch,
    onReconnect: (hear) => {
      hearers.push(hear);
    },
    close: async () => {
      await (await opening?.catch(() => undefined))?.close();
    },
  };
};
