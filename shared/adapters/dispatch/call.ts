/**
 * The dispatcher's side of a call: one delivery of the embedded queue as a POST to a function, in the shape in which
 * Lambda passes a batch of SQS messages, and the meaning of the answer.
 */
import { type ClientRequest, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import * as z from "zod";
import { signature } from "../../core/signature.ts";
import type { Enclosure } from "../../engine/ports.ts";
import type { Delivery } from "../embedded/queue.ts";
import type { Carried } from "./carrier.ts";
import type { Agents } from "./connections.ts";

/** The end of a call. */
export type Called =
  /** The function has worked: positions of the messages that must come again, and the messages that it sends. */
  | {
      readonly did: "answered";
      readonly failed: readonly number[];
      readonly carried: readonly Carried[];
      readonly againMs?: number | undefined;
    }
  /** Nobody has begun to work on the messages. */
  | { readonly did: "refused"; readonly why: string; readonly againMs?: number | undefined }
  /** The function may have begun: its process died, or its answer did not arrive in time or was no answer. */
  | { readonly did: "broke"; readonly why: string; readonly againMs?: number | undefined };

/** Calls a function with a delivery, and with what is enclosed for its key. */
export type Call = (delivery: Delivery, enclosure?: Enclosure) => Promise<Called>;

/** The proof by which a function knows the dispatcher. */
export type Proof = { readonly secret: string } | { readonly token: string };

/** Returns the proof for calls of a URL; absent: the client certificate of the connection is the only one. */
export type Prove = ((url: string) => Promise<Proof>) | undefined;

type Settings = {
  readonly url: string;
  /** The time limit of a call, ms: the function is told of it, and its messages come again after it. */
  readonly limitMs: number;
  /** The shortest wait that an answer may ask for, ms: for a shorter one the dispatcher waits as if none was named. */
  readonly leastAgainMs: number;
  readonly prove: Prove;
  readonly agents: Agents;
  /** Epoch ms. */
  readonly now: () => number;
};

/** Longest body of an answer that is read, bytes. */
const longestAnswer = 1_048_576;

const idOf = ({ receipt }: Delivery, at: number): string => `${receipt}.${at}`;

/**
 * Returns the event of a delivery: the batch as Lambda passes it, the time that the function has, and what is enclosed
 * for the key of the batch.
 */
export const eventOf = (delivery: Delivery, timeLimitMs: number, enclosure?: Enclosure): string =>
  JSON.stringify({
    Records: delivery.messages.map((message, at) => ({
      messageId: idOf(delivery, at),
      body: JSON.stringify(message),
      attributes: { ApproximateReceiveCount: String(delivery.received[at] ?? 1), MessageGroupId: delivery.group },
      eventSource: "rekindle:dispatch",
    })),
    timeLimitMs,
    enclosure,
  });

const carried = z.object({
  body: z.string().max(8_192),
  id: z.string().min(1).max(128),
  delayMs: z.number().min(0).optional(),
});

const answer = z.object({
  batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })),
  messages: z.array(carried).max(1_000).default([]),
});

const longestRetryMs = 300_000;

/** Returns the wait that a `Retry-After` header in seconds asks for, at most five minutes. */
const retryAfter = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,6}$/.test(text) ? Math.min(longestRetryMs, Number(text) * 1_000) : undefined;

/** Reads an answer with status 200. A failed id that is not of this delivery makes all of its messages come again. */
const readAnswer = (delivery: Delivery, text: string, againMs: number | undefined): Called => {
  const broke = (why: string): Called => ({ did: "broke", why, againMs });
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    return broke("the answer is not JSON");
  }
  const read = answer.safeParse(given);
  if (!read.success) return broke("the answer does not say which messages failed");
  const ids = delivery.messages.map((_, at) => idOf(delivery, at));
  const failed = read.data.batchItemFailures.map(({ itemIdentifier }) => ids.indexOf(itemIdentifier));
  if (failed.includes(-1)) return broke("the answer names a message that was not sent");
  return { did: "answered", failed, carried: read.data.messages, againMs };
};

/**
 * Statuses with which a platform answers before any function has begun. A 503 is one only with a time to come again:
 * some platforms answer 503 for a process that died of its call.
 */
const refusals: ReadonlySet<number> = new Set([401, 403, 404, 405, 429]);

/** Returns the meaning of an answer. */
const meaningOf = (
  delivery: Delivery,
  { status, text, retry }: { readonly status: number; readonly text: string; readonly retry: string | undefined },
  leastAgainMs: number,
): Called => {
  const namedMs = retryAfter(retry);
  const againMs = namedMs === undefined || namedMs < leastAgainMs ? undefined : namedMs;
  if (status === 200) return readAnswer(delivery, text, againMs);
  const isRefusal = refusals.has(status) || (status === 503 && namedMs !== undefined);
  return { did: isRefusal ? "refused" : "broke", why: `the function answered ${status}`, againMs };
};

const textOf = async (received: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of received) {
    const part = Buffer.from(chunk);
    length += part.length;
    if (length > longestAnswer) throw new Error(`the answer is longer than ${longestAnswer} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
};

const headersFor = async ({ url, prove, now }: Settings, body: string): Promise<Record<string, string>> => {
  const timestamp = String(Math.floor(now() / 1_000));
  const headers = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "user-agent": "rekindle-dispatch",
  };
  const proof = await prove?.(url);
  if (proof === undefined) return headers;
  if ("token" in proof) return { ...headers, authorization: `Bearer ${proof.token}` };
  const { pathname, search } = new URL(url);
  const signed = signature(proof.secret, { timestamp, method: "POST", path: `${pathname}${search}`, body });
  return { ...headers, "x-rekindle-timestamp": timestamp, "x-rekindle-signature": `sha256=${signed}` };
};

type Exchange = { readonly called: Called } | { readonly cause: unknown; readonly connected: boolean };

/** Sends the request. An error before the connection stands means that nobody has seen the messages. */
const exchange = (
  { url, agents, limitMs, leastAgainMs }: Settings,
  headers: Record<string, string>,
  body: string,
  delivery: Delivery,
): Promise<Exchange> =>
  new Promise((resolve) => {
    const at = new URL(url);
    const secure = at.protocol === "https:";
    let connected = false;
    const failed = (cause: unknown): void => resolve({ cause, connected });
    const options = { method: "POST", headers, signal: AbortSignal.timeout(limitMs) };
    const heard = (received: IncomingMessage): void => {
      textOf(received).then((text) => {
        const { statusCode: status = 0, headers: fields } = received;
        const retry = fields["retry-after"];
        resolve({ called: meaningOf(delivery, { status, text, retry }, leastAgainMs) });
      }, failed);
    };
    const sending: ClientRequest = secure
      ? requestSecure(at, { ...options, agent: agents.secure }, heard)
      : requestPlain(at, { ...options, agent: agents.plain }, heard);
    sending.once("socket", (socket) => {
      if (!socket.connecting) connected = true;
      else
        socket.once(secure ? "secureConnect" : "connect", () => {
          connected = true;
        });
    });
    sending.once("error", failed);
    sending.end(body);
  });

const whyOf = (cause: unknown): string => (cause instanceof Error ? cause.message || cause.name : String(cause));

const isTimeout = (cause: unknown): boolean => cause instanceof Error && cause.name === "AbortError";

/** Opens calls of the function at one URL. A call never rejects. */
export const openCall =
  (settings: Settings): Call =>
  async (delivery, enclosure) => {
    const body = eventOf(delivery, settings.limitMs, enclosure);
    let headers: Record<string, string>;
    try {
      headers = await headersFor(settings, body);
    } catch (cause) {
      return { did: "refused", why: `the call cannot be signed: ${whyOf(cause)}` };
    }
    const exchanged = await exchange(settings, headers, body, delivery);
    if ("called" in exchanged) return exchanged.called;
    const { cause, connected } = exchanged;
    if (!connected) return { did: "refused", why: whyOf(cause) };
    // The messages have waited for the time limit already.
    if (isTimeout(cause)) return { did: "broke", why: `no answer within ${settings.limitMs} ms`, againMs: 0 };
    return { did: "broke", why: whyOf(cause) };
  };
