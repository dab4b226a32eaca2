/**
 * The dispatcher's side of a call: a delivery of the embedded queue becomes a POST to a function, over kept-alive
 * connections with the platform's tokens; what the answer calls done is acknowledged, the rest is given back.
 */

import { readFile } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as requestPlain } from "node:http";
import { request as requestSecure, Agent as SecureAgent } from "node:https";
import * as z from "zod";
import { forgetOldest } from "../../core/cache.ts";
import type { Message } from "../../core/key.ts";
import { signature } from "../../core/signature.ts";
import { backoffOf } from "../../core/time.ts";
import type { Enclosure, Report } from "../../engine/ports.ts";
import type { Delivery } from "../embedded/queue.ts";
import type { Outcome } from "../embedded/workers.ts";
import type { CarriedMessage } from "./carrier.ts";

/** The end of a call. */
export type Called =
  /** The function has worked: positions of the messages that must come again, and the messages that it sends. */
  | {
      readonly did: "answered";
      readonly failed: readonly number[];
      readonly carried: readonly CarriedMessage[];
      readonly againMs?: number | undefined;
    }
  /** Nobody has begun to work on the messages. */
  | { readonly did: "refused"; readonly why: string; readonly againMs?: number | undefined }
  /** The function may have begun: its process died, or its answer did not arrive in time or was no answer. */
  | { readonly did: "broke"; readonly why: string; readonly againMs?: number | undefined };

/** Calls a function with a delivery, and with what is enclosed for its key. */
export type Call = (delivery: Delivery, enclosure?: Enclosure) => Promise<Called>;

/** The proof by which a function knows the dispatcher. */
export type CallProof = { readonly secret: string } | { readonly token: string };

/** Returns the proof for calls of a URL; absent: the client certificate of the connection is the only one. */
export type MakeProof = ((url: string) => Promise<CallProof>) | undefined;

type Settings = {
  readonly url: string;
  /** The time limit of a call, ms: the function gets it, and its messages come again after it. */
  readonly limitMs: number;
  /** The shortest wait that an answer may ask for, ms: for a shorter one the dispatcher waits as if none was named. */
  readonly leastAgainMs: number;
  readonly prove: MakeProof;
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

export type Agents = { readonly plain: PlainAgent; readonly secure: SecureAgent; readonly close: () => void };

/** Paths of PEM files; each is absent where it is not set. */
export type CertificateFiles = { readonly cert?: string | undefined; readonly key?: string | undefined };

const read = async (path: string | undefined): Promise<Buffer | undefined> =>
  path === undefined ? undefined : await readFile(path);

/** Opens the connections, with a client certificate if one is set; at most `maxSockets` at once. */
export const openAgents = async (files: CertificateFiles, maxSockets: number): Promise<Agents> => {
  const [cert, key] = await Promise.all([read(files.cert), read(files.key)]);
  const identity = cert === undefined || key === undefined ? {} : { cert, key };
  const usual = { keepAlive: true, maxSockets };
  const plain = new PlainAgent(usual);
  const secure = new SecureAgent({ ...usual, ...identity });
  return {
    plain,
    secure,
    close: () => {
      plain.destroy();
      secure.destroy();
    },
  };
};

/** The age after which a token is asked for again, ms: a metadata server renews them well before they end. */
const heldMs = 60_000;
const timeLimitMs = 3_000;

const fromServer = async (server: string, audience: string): Promise<string> => {
  const url = new URL(server);
  url.searchParams.set("audience", audience);
  // The header without which Google's metadata server refuses; others ignore it.
  const headers = { "metadata-flavor": "Google" };
  const answer = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(timeLimitMs) });
  if (!answer.ok) throw new Error(`${url.host} answered ${answer.status} instead of a token`);
  return await answer.text();
};

/** Opens the platform's tokens: a metadata server is asked for one for the origin of the URL that is called. */
export const openTokens = (now: () => number = () => performance.now()) => {
  const held = new Map<string, { readonly token: string; readonly at: number }>();
  return async (server: string, url: string): Promise<string> => {
    const { origin: audience } = new URL(url);
    const known = held.get(audience);
    if (known !== undefined && now() - known.at < heldMs) return known.token;
    const token = (await fromServer(server, audience)).trim();
    if (!/^[\x21-\x7e]{1,8192}$/.test(token)) throw new Error("the metadata server gave no token");
    held.set(audience, { token, at: now() });
    return token;
  };
};

type CallSettings = {
  readonly call: Call;
  /** Returns what a call encloses for the key of its messages; absent: nothing. */
  readonly enclosing?: (messages: readonly Message[]) => Enclosure | undefined;
  /** Puts a message that a function sends into the queue. */
  readonly put: (carried: CarriedMessage) => Promise<void>;
  readonly report: Report;
  /** Monotonic, ms. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
};

const firstMs = 1_000;
const longestMs = 60_000;
/** The most groups whose failures are counted. */
const most = 10_000;

/** Returns the wait after so many failures in a row, ms. */
const growing = (failures: number): number => backoffOf(failures - 1, firstMs, longestMs);

type Closed = { readonly until: number; readonly failures: number };

export const takingBy = ({ call, enclosing, put, report, now, random }: CallSettings) => {
  /** Failures in a row of each group that waits to come again. */
  const failures = new Map<string, number>();
  let closed: Closed | undefined;

  const count = (group: string): number => {
    const failed = (failures.get(group) ?? 0) + 1;
    failures.set(group, failed);
    forgetOldest(failures, most);
    return failed;
  };
  /** Spreads keys that wait for the same instant over a quarter of the time more. */
  const spread = (ms: number): number => Math.round(ms * (1 + random() / 4));

  const close = ({ why, againMs }: Extract<Called, { did: "refused" }>): Outcome => {
    // Calls that were under way together fail together: they count as one failure of the URL.
    const failed = closed === undefined || closed.until <= now() ? (closed?.failures ?? 0) + 1 : closed.failures;
    const waitMs = againMs ?? growing(failed);
    if (closed === undefined || closed.until <= now())
      report("warn", "the function takes no calls, trying again", { why, waitMs });
    closed = { until: Math.max(closed?.until ?? 0, now() + waitMs), failures: failed };
    return { againMs: spread(waitMs), begun: false };
  };
  const open = (): void => {
    if (closed !== undefined) report("info", "the function takes calls again");
    closed = undefined;
  };
  const settle = async ({ group }: Delivery, called: Called): Promise<Outcome> => {
    switch (called.did) {
      case "refused":
        return close(called);
      case "broke": {
        const againMs = called.againMs ?? spread(growing(count(group)));
        report("warn", "a call was interrupted; its messages are delivered again", { group, why: called.why, againMs });
        return { againMs };
      }
      case "answered": {
        open();
        for (const one of called.carried) await put(one);
        if (called.failed.length > 0)
          return { failed: called.failed, againMs: called.againMs ?? spread(growing(count(group))) };
        failures.delete(group);
        return "done";
      }
    }
  };
  return async (delivery: Delivery): Promise<Outcome> => {
    const waitMs = (closed?.until ?? 0) - now();
    if (waitMs > 0) return { againMs: spread(waitMs), begun: false };
    return await settle(delivery, await call(delivery, enclosing?.(delivery.messages)));
  };
};
