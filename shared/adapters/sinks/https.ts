/**
 * Sends updates to HTTPS listeners that users name: the host is resolved once, its address must be one of the open
 * Internet, and the connection goes to that address. Redirects are not followed, and only the status of the answer
 * matters. Names are resolved over sockets of our own, with a deadline and a cache, because getaddrinfo holds one of
 * the process's few threads until it gives up: names that never resolve would stop every other lookup.
 */

import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { type IncomingMessage, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { BlockList, isIP, isIPv6 } from "node:net";
import { listenerKey, signature } from "../../core/signature.ts";
import type { Sent, SentUpdate, Sink } from "../../core/updates.ts";

type Row = readonly [network: string, prefix: number];

/**
 * Addresses that are not globally reachable, by IANA's registry of special-purpose addresses; link-local includes the
 * clouds' metadata services. One public address belongs to Azure's platform, which answers its machines there.
 */
const closed4: readonly Row[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/**
 * All globally routed IPv6 addresses are in this network, except those for embedded IPv4, documentation and benchmarks.
 */
const open6: readonly Row[] = [["2000::", 3]];
const closed6: readonly Row[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const listOf = (family: "ipv4" | "ipv6", rows: readonly Row[]): BlockList => {
  const list = new BlockList();
  for (const [network, prefix] of rows) list.addSubnet(network, prefix, family);
  return list;
};

/** True for addresses of the open Internet; false for an IPv4 address in IPv6 form. */
export const isPublic = (address: string): boolean => {
  if (!isIPv6(address)) return !listOf("ipv4", closed4).check(address, "ipv4");
  return listOf("ipv6", open6).check(address, "ipv6") && !listOf("ipv6", closed6).check(address, "ipv6");
};

/** Returns all addresses of a name; rejects with an error that has a code if there are none, or no answer in time. */
type Resolve = (name: string) => Promise<readonly string[]>;

/** The names and search suffixes of the system's files. */
export type ResolverConfig = {
  /** Addresses by name, as /etc/hosts has them. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Suffixes to try, as /etc/resolv.conf has them. */
  readonly search: readonly string[];
  /** A name with fewer dots is tried with the suffixes first. */
  readonly ndots: number;
};

/** Returns the addresses of one complete name; an empty list or an error if there are none. */
export type Lookup = (name: string) => Promise<readonly string[]>;

type Options = {
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly surroundings: () => Promise<ResolverConfig>;
  readonly lookUp: Lookup;
};

/** Time limit of a query, ms; shorter than the sink's time limit, so that a failure is reported as such. */
const askMs = 1_500;
/** Time for which a name's addresses are cached, ms; failures for less, because they may end soon. */
const keepMs = 30_000;
const keepFailureMs = 10_000;
const mostNames = 1_000;

/** The addresses of `localhost` and of all names below it, whatever a name server says (RFC 6761). */
const loopback: readonly string[] = ["127.0.0.1", "::1"];

/** Returns the lines of a system file without comments, split into words. */
const linesIn = (text: string): readonly (readonly string[])[] =>
  text
    .split("\n")
    .map((line) => line.replace(/[#;].*/, "").trim())
    .filter((line) => line !== "")
    .map((line) => line.split(/\s+/));

/** Parses the texts of /etc/hosts and /etc/resolv.conf; lines that it does not understand are ignored. */
export const resolverConfigIn = (hostsText: string, resolvText: string): ResolverConfig => {
  const hosts = new Map<string, string[]>();
  for (const [address = "", ...names] of linesIn(hostsText))
    if (isIP(address) !== 0)
      for (const name of names) hosts.set(name.toLowerCase(), [...(hosts.get(name.toLowerCase()) ?? []), address]);
  const lines = linesIn(resolvText);
  const search =
    lines
      .filter(([word]) => word === "search" || word === "domain")
      .at(-1)
      ?.slice(1) ?? [];
  const options = lines.filter(([word]) => word === "options").flatMap(([, ...words]) => words);
  const ndots = options.map((word) => /^ndots:(\d{1,2})$/.exec(word)?.[1]).find((found) => found !== undefined);
  return { hosts, search, ndots: Number(ndots ?? 1) };
};

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

const systemSurroundings = async (): Promise<ResolverConfig> =>
  resolverConfigIn(await textOf("/etc/hosts"), await textOf("/etc/resolv.conf"));

/**
 * Queries these name servers, as `127.0.0.1:53`, or the machine's; both address families at once. It fails only if
 * neither family has an address.
 */
export const askServers = async (name: string, servers?: readonly string[]): Promise<readonly string[]> => {
  const resolver = new Resolver({ timeout: askMs, tries: 1 });
  if (servers !== undefined) resolver.setServers([...servers]);
  const timer = setTimeout(() => resolver.cancel(), askMs);
  try {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [four, six].flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    if (found.length === 0 && four.status === "rejected") throw four.reason;
    return found;
  } finally {
    clearTimeout(timer);
  }
};

/** Returns the complete names that a name may stand for, in the order in which they are tried. As resolv.conf(5). */
const candidates = (name: string, { search, ndots }: ResolverConfig): readonly string[] => {
  if (name.endsWith(".")) return [name];
  const dots = name.split(".").length - 1;
  const completed = search.map((suffix) => `${name}.${suffix}`);
  return dots >= ndots ? [name, ...completed] : [...completed, name];
};

const found = async (name: string, { surroundings, lookUp }: Options): Promise<readonly string[]> => {
  const around = await surroundings();
  const known = around.hosts.get(name.toLowerCase()) ?? (/(^|\.)localhost\.?$/i.test(name) ? loopback : undefined);
  if (known !== undefined) return known;
  let failure: unknown;
  for (const candidate of candidates(name, around)) {
    try {
      const addresses = await lookUp(candidate);
      if (addresses.length > 0) return addresses;
    } catch (cause) {
      failure = cause;
    }
  }
  throw failure ?? Object.assign(new Error(`${name} has no address`), { code: "ENOTFOUND" });
};

type Kept = { readonly answer: Promise<readonly string[]>; until: number };

/** Opens a resolver: one query at a time for a name, answers are cached, and at most `mostNames` names are kept. */
export const openResolver = (given: Partial<Options> = {}): Resolve => {
  const options = {
    now: () => performance.now(),
    surroundings: systemSurroundings,
    lookUp: (name: string) => askServers(name),
    ...given,
  };
  const kept = new Map<string, Kept>();
  const lookedUp = (name: string): Kept => {
    const answer = found(name, options);
    const entry: Kept = { answer, until: Number.POSITIVE_INFINITY };
    answer.then(
      () => (entry.until = options.now() + keepMs),
      () => (entry.until = options.now() + keepFailureMs),
    );
    return entry;
  };
  return (name) => {
    const there = kept.get(name);
    if (there !== undefined && there.until > options.now()) return there.answer;
    kept.delete(name);
    const [oldest] = kept.keys();
    if (kept.size >= mostNames && oldest !== undefined) kept.delete(oldest);
    const entry = lookedUp(name);
    kept.set(name, entry);
    return entry.answer;
  };
};

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
  if (url.username !== "" || url.password !== "") return "a URL with a user name or a password is refused";
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
  return refused(`host ${host} resolves to ${inside}, which is not a public address`);
};

const headersFor = async (
  url: URL,
  { secret }: HttpsRules,
  { body, id, trace }: SentUpdate,
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
  return async (to, sentUpdate, now) => {
    const url = judged(to, rules);
    if (typeof url === "string") return refused(url);
    const signal = AbortSignal.timeout(timeLimitMs);
    let heard: Sent = silent;
    const post = async (): Promise<Sent> => {
      const address = await pinned(url, rules, resolve);
      if (typeof address !== "string") return address;
      const headers = await headersFor(url, rules, sentUpdate, now);
      const options: RequestOptions = { method: "POST", headers, agent: false, signal, lookup: fixed(address) };
      return await exchanged(url, options, sentUpdate.body, (sent) => {
        heard = sent;
      });
    };
    const posted = post().catch((cause: unknown) => failed(`the listener cannot be reached (${codeOf(cause)})`));
    return await Promise.race([posted, aborted(signal).then(() => heard)]);
  };
};
