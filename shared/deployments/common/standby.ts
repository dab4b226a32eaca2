/**
 * Standby of a deployment while another controller of the same kinds is at work, because two controllers of one kind
 * would undo each other's work. Functions detect controllers by Deployments, Ready pods and fresh writes, and store
 * the result in one record for the whole deployment, which is read at a cold start and every `rereadMs`. They are too
 * short-lived to watch leases: a step reads the leases, and the result holds for `ageMs`. For that time, and one step
 * more, both may write after another controller begins to work.
 */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { pages } from "../../adapters/kubernetes/requests.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Cluster, Report } from "../../engine/ports.ts";
import {
  type FindControllers,
  findLeaders,
  findOtherControllers,
  findWorkers,
  openSignStore,
  type SignStore,
  type StoredSigns,
  signsIn,
  trustedMs,
  type Writers,
} from "../../forward/controller-detection.ts";
import { type Cursors, cursorKey } from "../../forward/cursors.ts";
import { type Upstream, upstreams } from "../../kube/upstream-controllers.ts";
import type { Configuration } from "../settings/table.ts";
import { resources } from "./kinds.ts";
import { type NamespaceChoice, openNamespaceScope } from "./namespaces.ts";
import { once } from "./once.ts";

type Scope = NamespaceChoice & { readonly selector?: string | undefined };

/**
 * Yields the objects page by page. A kind that the server does not serve (404) yields nothing, so that other kinds are
 * still listed.
 */
const servedPages = async function* (
  transport: Transport,
  paging: Parameters<typeof pages>[1],
): AsyncIterable<readonly Stored[]> {
  try {
    for await (const { items } of pages(transport, paging)) yield items;
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status !== 404) throw cause;
  }
};

/**
 * Returns a listing of the objects of these upstreams' kinds within the deployment's scope, page by page, without spec
 * and status.
 */
const oursOf = (transport: Transport, { selector, ...scope }: Scope, known: readonly Upstream[]) => {
  const groups = known.flatMap((upstream) => upstream.groups);
  const theirs = resources.filter(({ group }) => groups.includes(group));
  const namespaceScope = openNamespaceScope({ ...scope, transport, report: () => {}, now: Date.now });
  const places = namespaceScope.watched.length === 0 ? [""] : namespaceScope.watched;
  return async function* (): AsyncIterable<readonly Stored[]> {
    const within = await namespaceScope.within();
    for (const resource of theirs) {
      for (const namespace of places) {
        const paging = { transport, resource, namespace, selector: selector || undefined, metadataOnly: true };
        for await (const page of servedPages(transport, paging))
          yield page.filter((item) => within(item.metadata.namespace ?? ""));
      }
    }
  };
};

/** Opens the detection; undefined where the settings turn it off. Each failed look is logged once. */
export const lookoutFor = (
  transport: Transport,
  configuration: Scope & Pick<Configuration, "leases" | "takeOver" | "coexist" | "dryRun">,
  warn: (line: string) => void,
  writers?: Pick<Writers, "signs">,
): FindControllers | undefined => {
  const { takeOver, coexist, dryRun, leases } = configuration;
  if (takeOver || coexist || dryRun) return undefined;
  const cluster = openCluster(transport);
  const reported = new Set<string>();
  const tell = (blind: readonly string[]): void => {
    for (const line of blind.filter((one) => !reported.has(one))) {
      reported.add(line);
      warn(`cannot see whether another controller is alive: ${line}`);
    }
  };
  return async (upstream, how) => {
    const known = upstreams.filter(({ name }) => name === upstream);
    if (how === "thorough") {
      const { signs, blind } = await findOtherControllers(
        cluster,
        leases,
        oursOf(transport, configuration, known),
        known,
      );
      tell(blind);
      return signs;
    }
    const led = await findLeaders(cluster, leases, known);
    const working = how === "workloads" ? await findWorkers(cluster, known) : { signs: [], blind: [] };
    tell([...led.blind, ...working.blind]);
    const groups = known.flatMap((one) => one.groups);
    return [...led.signs, ...working.signs, ...(writers?.signs(groups, led.date) ?? [])];
  };
};

/** The interval of a forwarder's looks, ms. */
const lookMs = 30_000;
/** The delay of a forwarder's first look, ms: by then its watches have shown recent writers. */
const firstLookMs = 1_000;

/** Returns the key of the record for a deployment that watches these namespaces. */
export const sightingKey = (cluster: string, watched: readonly string[]): Key =>
  cursorKey(cluster, watched[0], "controllers");

type Sighter = {
  readonly sightings: SignStore;
  /** Looks at everything, the objects themselves included, and saves the result. */
  look(): Promise<StoredSigns>;
};

type Parts = NamespaceChoice & {
  readonly cluster: Cluster;
  /** The record: see `sightingKey`. */
  readonly key: Key;
  readonly transport: Transport;
  readonly selector: string | undefined;
  readonly cursors: Cursors;
  /** API groups of the kinds that the deployment runs. */
  readonly groups: readonly string[];
  readonly report: Report;
};

const runHere = (groups: readonly string[]): readonly Upstream[] =>
  upstreams.filter((upstream) => upstream.groups.some((group) => groups.includes(group)));

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

const openReporting = (report: Report) => {
  const reported = new Set<string>();
  return (line: string): void => {
    if (!reported.has(line)) report("warn", line);
    reported.add(line);
  };
};

const blindLine = (line: string): string => `cannot see whether another controller is alive: ${line}`;

export const openSighter = (parts: Parts): Sighter => {
  const { cluster, key, transport, cursors, groups, report, ...scope } = parts;
  const sightings = openSignStore(cursors, key);
  const tell = openReporting(report);
  return {
    sightings,
    look: async () => {
      const signs: Record<string, string[]> = {};
      const written: Record<string, string[]> = {};
      let at = 0;
      for (const family of runHere(groups)) {
        const found = await findWorkers(cluster, [family], oursOf(transport, scope, [family]));
        for (const line of found.blind) tell(blindLine(line));
        signs[family.name] = [...found.signs];
        written[family.name] = [...found.written];
        at = found.date;
      }
      const seen = { at, signs, written };
      await sightings.save(seen).catch((cause: unknown) => {
        tell(
          `the signs of other controllers cannot be saved, so every function looks for them itself: ${messageOf(cause)}`,
        );
      });
      return seen;
    },
  };
};

type Watching = Pick<Parts, "cluster" | "groups" | "report"> & {
  readonly sightings: SignStore;
  readonly writers: Pick<Writers, "signs" | "knowsAll">;
};

/**
 * Returns the forwarder's sighting: workloads by a look, writes by its watches. Writes before its watches began come
 * from the stored record. Undefined where a look is incomplete, so that functions look for themselves.
 */
const forwardersLook = async (watching: Watching): Promise<StoredSigns | undefined> => {
  const { cluster, groups, writers, report, sightings } = watching;
  const kept = once(() => sightings.load());
  const signs: Record<string, string[]> = {};
  const written: Record<string, string[]> = {};
  let at = 0;
  for (const family of runHere(groups)) {
    const found = await findWorkers(cluster, [family]);
    if (found.blind.length > 0) {
      report("debug", blindLine(found.blind.join("; ")));
      return undefined;
    }
    signs[family.name] = [...found.signs];
    const seen = writers.signs(family.groups, found.date);
    const before = writers.knowsAll(found.date) || seen.length > 0 ? undefined : await kept();
    written[family.name] = [...seen, ...(before?.written[family.name] ?? [])];
    at = found.date;
  }
  return { at, signs, written };
};

/** Looks once for a forwarder, and saves the sighting if it has changed. A failed look changes nothing. */
export const sightOnce = async (watching: Watching): Promise<void> => {
  try {
    const seen = await forwardersLook(watching);
    if (seen !== undefined) await watching.sightings.save(seen);
  } catch (cause) {
    watching.report("debug", "cannot look for other controllers", { error: messageOf(cause) });
  }
};

/** Looks at an interval until the returned function is called. */
export const startSighting = (watching: Watching): (() => Promise<void>) => {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let running = Promise.resolve();
  const go = (): void => {
    running = sightOnce(watching).then(() => {
      if (!stopped) timer = setTimeout(go, lookMs);
    });
  };
  timer = setTimeout(go, firstLookMs);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
};

type Settings = {
  readonly cluster: Cluster;
  /** Names of leader leases; empty: no detection. */
  readonly leases: readonly string[];
  readonly operators: readonly Pick<Operator<unknown>, "kind" | "resource" | "family">[];
  readonly report: Report;
  /** Finds signs of a controller other than its lease; absent: leases alone count. */
  readonly sighter?: Sighter;
  /** True: this function looks itself, which renews the record for others; absent: it reads the record. */
  readonly looks?: boolean;
  /** Monotonic, ms. */
  readonly now: () => number;
};

export type FunctionStandby = {
  /** True while nothing of this kind may be written. Throws where the server cannot be read. */
  aside(kind: string): Promise<boolean>;
};

const ageMs = 10_000;
const rereadMs = 30_000;

/**
 * Returns the stored sighting, or looks where it is missing or older than `trustedMs`. `date`: the API server's clock,
 * epoch ms.
 */
const sighted = async ({ sightings, look }: Sighter, date: number): Promise<StoredSigns> => {
  const kept = await sightings.load();
  return kept !== undefined && Math.abs(date - kept.at) < trustedMs ? kept : await look();
};

export const openStandby = (settings: Settings): FunctionStandby => {
  const { cluster, leases, operators, report, sighter, looks = false, now } = settings;
  const familyOf = new Map(
    operators.map(({ kind, resource: { group }, family = group }) => [
      kind,
      upstreams.find((upstream) => upstream.groups.includes(family)),
    ]),
  );
  const reported = new Set<string>();
  const tell = (line: string): void => {
    if (!reported.has(line)) report("warn", line);
    reported.add(line);
  };
  let seen: { readonly sighting: StoredSigns; readonly at: number } | undefined;
  const seenNow = async (name: string, date: number): Promise<readonly string[]> => {
    if (sighter === undefined) return [];
    if (seen === undefined || now() - seen.at >= rereadMs)
      seen = { sighting: await (looks ? sighter.look() : sighted(sighter, date)), at: now() };
    return signsIn(seen.sighting, name);
  };
  const look = async (family: Upstream): Promise<boolean> => {
    const leading = await findLeaders(cluster, leases, [family]);
    for (const line of leading.blind) tell(`cannot see whether another controller is alive: ${line}`);
    const signs = [...leading.signs, ...(await seenNow(family.name, leading.date))];
    if (signs.length === 0) return false;
    tell(`standby: ${signs.join("; ")}; Rekindle writes nothing for these kinds meanwhile`);
    return true;
  };
  /** The latest look of each family. */
  const known = new Map<Upstream, { readonly leads: Promise<boolean>; readonly at: number }>();
  const leadsNow = async (family: Upstream): Promise<boolean> => {
    const kept = known.get(family);
    const latest = kept === undefined || now() - kept.at >= ageMs ? { leads: look(family), at: now() } : kept;
    known.set(family, latest);
    return await latest.leads.catch((cause: unknown) => {
      if (known.get(family) === latest) known.delete(family);
      throw cause;
    });
  };
  return {
    aside: async (kind) => {
      const family = familyOf.get(kind);
      return leases.length > 0 && family !== undefined && (await leadsNow(family));
    },
  };
};
