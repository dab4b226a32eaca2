/**
 * Resolves the names of listeners without the system's resolver: getaddrinfo holds one of the process's few threads
 * until it gives up, so names that never resolve would stop every other lookup, including the API server's. This
 * resolver queries the name servers over its own sockets, with a deadline, and caches answers and failures.
 */
import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";

/** Returns all addresses of a name; rejects with an error that has a code if there are none, or no answer in time. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** The names and search suffixes of the system's files. */
export type Surroundings = {
  /** Addresses by name, as /etc/hosts has them. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Suffixes to try, as /etc/resolv.conf has them. */
  readonly search: readonly string[];
  /** A name with fewer dots is tried with the suffixes first. */
  readonly ndots: number;
};

/** Returns the addresses of one complete name; an empty list or an error if there are none. */
export type Ask = (name: string) => Promise<readonly string[]>;

type Options = {
  /** Monotonic, ms. */
  readonly now: () => number;
  readonly surroundings: () => Promise<Surroundings>;
  readonly ask: Ask;
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
export const surroundingsIn = (hostsText: string, resolvText: string): Surroundings => {
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

const systemSurroundings = async (): Promise<Surroundings> =>
  surroundingsIn(await textOf("/etc/hosts"), await textOf("/etc/resolv.conf"));

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
const candidates = (name: string, { search, ndots }: Surroundings): readonly string[] => {
  if (name.endsWith(".")) return [name];
  const dots = name.split(".").length - 1;
  const completed = search.map((suffix) => `${name}.${suffix}`);
  return dots >= ndots ? [name, ...completed] : [...completed, name];
};

const found = async (name: string, { surroundings, ask }: Options): Promise<readonly string[]> => {
  const around = await surroundings();
  const known = around.hosts.get(name.toLowerCase()) ?? (/(^|\.)localhost\.?$/i.test(name) ? loopback : undefined);
  if (known !== undefined) return known;
  let failure: unknown;
  for (const candidate of candidates(name, around)) {
    try {
      const addresses = await ask(candidate);
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
    ask: (name: string) => askServers(name),
    ...given,
  };
  const kept = new Map<string, Kept>();
  const asked = (name: string): Kept => {
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
    const entry = asked(name);
    kept.set(name, entry);
    return entry.answer;
  };
};
