/**
 * Sends updates to HTTPS listeners that users name: the host is resolved once, checked, and the connection goes to the
 * checked address. Redirects are not followed, and only the status of the answer matters.
 */
import { type IncomingMessage, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { isIP } from "node:net";
import { listenerKey, signature } from "../../core/signature.ts";
import type { Parcel, Sent, Sink } from "../../core/sink.ts";
import { isPublic } from "./addresses.ts";
import { openResolver, type Resolve } from "./resolver.ts";

export type HttpsRules = {
  /** Allowed hosts: names, or `.example.com` for all below it. Empty: any. */
  readonly hosts: readonly string[];
  /** Also allows plain HTTP, and addresses that only this network reaches. */
  readonly allowPrivate: boolean;
  /** Returns the secret that listeners' keys are derived from; absent: nothing is signed. */
  readonly secret?: (() => Promise<string>) | undefined;
  /** Resolves a name to all its addresses; absent: with the machine's name servers. */
  readonly resolve?: Resolve;
};

/** Time limit of the whole exchange, ms. */
const timeLimitMs = 2_000;
/** Longest body of an answer that is read, bytes. */
const longestAnswer = 65_536;

const refused = (error: string): Sent => ({ did: "refused", error });
const failed = (error: string): Sent => ({ did: "failed", error });

const isListed = (host: string, hosts: readonly string[]): boolean =>
  hosts.length === 0 || hosts.some((one) => (one.startsWith(".") ? host.endsWith(one) : host === one));

/**
 * Returns the listener's URL, or why nothing is sent to it. The text contains neither path nor query, because they may
 * hold a secret.
 */
const judged = (to: string, { hosts, allowPrivate }: HttpsRules): URL | string => {
  if (!URL.canParse(to)) return "the listener is not a URL";
  const url = new URL(to);
  const isPlain = url.protocol === "http:" && allowPrivate;
  if (url.protocol !== "https:" && !isPlain) return `${url.protocol}// is not allowed: https is needed`;
  if (url.username !== "" || url.password !== "") return "a URL with a user or a password is not taken";
  return isListed(url.hostname, hosts) ? url : `host ${url.hostname} is not on the operator's list of listeners`;
};

/**
 * Returns the address to connect to. Every address of the host must be allowed, because a name may also lead to an
 * internal one.
 */
const pinned = async (url: URL, rules: HttpsRules, resolve: Resolve): Promise<string | Sent> => {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  const [first] = addresses;
  if (first === undefined) return failed(`host ${host} has no address`);
  const inside = addresses.find((address) => !isPublic(address));
  if (inside === undefined || rules.allowPrivate) return first;
  return refused(`host ${host} leads to ${inside}, which is not an address of the open Internet`);
};

const headersFor = async (
  url: URL,
  { secret }: HttpsRules,
  { body, id, trace }: Parcel,
  now: number,
): Promise<Record<string, string>> => {
  const timestamp = String(Math.floor(now / 1_000));
  const headers = {
    "content-type": "application/cloudevents+json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "user-agent": "rekindle",
    "x-rekindle-id": id,
    "x-rekindle-timestamp": timestamp,
    ...(trace === undefined ? {} : { traceparent: trace }),
  };
  if (secret === undefined) return headers;
  const key = listenerKey(await secret(), url.href);
  const signed = signature(key, { timestamp, method: "POST", path: url.href, body });
  return { ...headers, "x-rekindle-signature": `sha256=${signed}` };
};

/** Reads the body to its end or its limit, so that a well-behaved listener is not cut off; the content is ignored. */
const drained = async (answer: IncomingMessage): Promise<void> => {
  let length = 0;
  try {
    for await (const chunk of answer) {
      length += Buffer.byteLength(chunk);
      if (length > longestAnswer) break;
    }
  } catch {
    // The status has already decided whether the update is acknowledged.
  } finally {
    answer.destroy();
  }
};

const meaningOf = (status: number): Sent => {
  if (status >= 200 && status < 300) return { did: "acknowledged" };
  const why = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  return failed(`the listener answered ${status}${why}`);
};

/** Sends the request. `heard` is called with the outcome as soon as the status of the answer is known. */
const exchanged = (url: URL, options: RequestOptions, body: string, heard: (sent: Sent) => void): Promise<Sent> =>
  new Promise((resolve, reject) => {
    const begin = url.protocol === "http:" ? requestPlain : requestSecure;
    const sending = begin(url, options, (answer) => {
      const sent = meaningOf(answer.statusCode ?? 0);
      heard(sent);
      void drained(answer).then(() => resolve(sent));
    });
    sending.once("error", reject);
    sending.end(body);
  });

/**
 * Returns a lookup that answers the checked address, whatever the name resolves to meanwhile. It answers later: a
 * connection that fails within the lookup (no route, as to an IPv6 address from a network of IPv4) fails before the
 * request listens for errors, and an error that nobody listens for ends the process.
 */
const fixed = (address: string): NonNullable<RequestOptions["lookup"]> => {
  const family = isIP(address);
  return (_, options, done) => {
    const answer = (): void => {
      if (options.all === true) done(null, [{ address, family }]);
      else done(null, address, family);
    };
    setImmediate(answer);
  };
};

const codeOf = (cause: unknown): string => {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? code : cause instanceof Error ? cause.name : "unknown";
};

const silent = failed(`the listener did not answer within ${timeLimitMs} ms`);

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

/** Opens the sink with the operator's rules. */
export const httpsSink = (rules: HttpsRules): Sink => {
  const resolve = rules.resolve ?? openResolver();
  return async (to, parcel, now) => {
    const url = judged(to, rules);
    if (typeof url === "string") return refused(url);
    const signal = AbortSignal.timeout(timeLimitMs);
    let heard: Sent = silent;
    const post = async (): Promise<Sent> => {
      const address = await pinned(url, rules, resolve);
      if (typeof address !== "string") return address;
      const headers = await headersFor(url, rules, parcel, now);
      const options: RequestOptions = { method: "POST", headers, agent: false, signal, lookup: fixed(address) };
      return await exchanged(url, options, parcel.body, (sent) => {
        heard = sent;
      });
    };
    const posted = post().catch((cause: unknown) => failed(`the listener cannot be reached (${codeOf(cause)})`));
    return await Promise.race([posted, aborted(signal).then(() => heard)]);
  };
};
