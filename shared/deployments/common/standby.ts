/**
 * Standby of a deployment while another controller of the same kinds is at work, because two controllers of one kind
 * would undo each other's work. Functions detect controllers by Deployments and Ready pods, and store the result in one
 * record for the whole deployment, which is read at a cold start and every `rereadMs`. They are too short-lived to
 * watch leases: a step reads the leases, and the result holds for `ageMs`. For that time, and one step more, both may
 * write after another controller begins to work.
 */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import type { Transport } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import type { Resource } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import { errorText } from "../../core/text.ts";
import type { World } from "../../engine/context/world.ts";
import type { Cluster, Report } from "../../engine/ports.ts";
import {
  type FindControllers,
  findLeaders,
  type Lookout,
  openSignStore,
  type SignStore,
  type Standing,
  type StoredSigns,
  standbyText,
  standingIn,
  trustedMs,
  upstreamsOf,
} from "../../forward/controller-detection.ts";
import { type Cursors, cursorKey } from "../../forward/cursors.ts";
import { startRounds } from "../../forward/pause.ts";
import type { Upstream } from "../../kube/upstream-controllers.ts";
import type { Configuration } from "../settings/table.ts";

/** The most lines about workloads that count for nothing: tenants may name any number of them. */
const mostIgnored = 20;

type Telling = {
  /** Tells what could not be read, once for each line. */
  readonly blind: (lines: readonly string[]) => void;
  /** Tells the workloads that count for nothing, once for each line, and only the first of them. */
  readonly ignored: (lines: readonly string[]) => void;
};

const openTelling = (tell: (line: string) => void): Telling => {
  const reported = new Set<string>();
  const once = (line: string): void => {
    if (!reported.has(line)) tell(line);
    reported.add(line);
  };
  let ignoredLeft = mostIgnored;
  return {
    blind: (lines) => {
      for (const line of lines) once(`cannot see whether another controller is alive: ${line}`);
    },
    ignored: (lines) => {
      for (const line of lines.filter((one) => !reported.has(one)).slice(0, ignoredLeft)) {
        ignoredLeft -= 1;
        once(line);
      }
    },
  };
};

/** Opens the detection of a host; undefined where the settings turn it off. */
export const lookoutFor = (
  transport: Transport,
  configuration: Pick<Configuration, "leases" | "controllerNamespaces" | "takeOver" | "coexist" | "dryRun">,
  warn: (line: string) => void,
): FindControllers | undefined => {
  const { takeOver, coexist, dryRun, leases, controllerNamespaces: namespaces } = configuration;
  if (takeOver || coexist || dryRun) return undefined;
  const cluster = openCluster(transport);
  const tell = openTelling(warn);
  /** Namespaces in which the latest thorough look has found a workload that counts, by upstream. */
  const places = new Map<Upstream, readonly string[]>();
  return async (upstream, how) => {
    if (how === "thorough") {
      const { findController } = await import("../../forward/controller-workloads.ts");
      const found = await findController(cluster, upstream, { leases, namespaces });
      places.set(upstream, found.places);
      tell.blind(found.blind);
      tell.ignored(found.ignored);
      return found.signs;
    }
    const known = [...namespaces, ...(places.get(upstream) ?? [])];
    const led = await findLeaders(cluster, upstream, { leases, namespaces: known });
    tell.blind(led.blind);
    return led.signs;
  };
};

/** The interval of a forwarder's looks, ms. */
const lookMs = 30_000;
/** The delay of a forwarder's first look, ms: a window that is shorter only looks whether something has happened. */
const firstLookMs = 1_000;

/** Returns the key of the record of signs of a whole cluster. */
export const signsKey = (cluster: string): Key => cursorKey(cluster, undefined, "controllers");

/**
 * Returns the key of the record for a deployment that watches these namespaces; undefined where it watches some alone:
 * the record would be in one of them, where a tenant may write it.
 */
export const sightingKey = (cluster: string, watched: readonly string[]): Key | undefined =>
  watched.length === 0 ? signsKey(cluster) : undefined;

export type Sighter = {
  readonly sightings: SignStore;
  /** Looks at everything, and saves the result. */
  look(): Promise<StoredSigns>;
};

type Parts = {
  readonly cluster: Cluster;
  /** The record: see `sightingKey`. */
  readonly key: Key;
  readonly cursors: Cursors;
  /** API groups of the kinds that the deployment runs. */
  readonly groups: readonly string[];
  readonly lookout: Lookout;
  readonly report: Report;
};

type Seeing = Pick<Parts, "cluster" | "groups" | "lookout">;

/** Looks for every upstream of these kinds. `blind`: what could not be read. */
const sightedAll = async ({ cluster, groups, lookout }: Seeing) => {
  const { findWorkers } = await import("../../forward/controller-workloads.ts");
  const signs: Record<string, string[]> = {};
  const led: Record<string, string[]> = {};
  const places: Record<string, string[]> = {};
  const blind: string[] = [];
  const ignored: string[] = [];
  let at = 0;
  for (const upstream of upstreamsOf(groups)) {
    const found = await findWorkers(cluster, upstream, lookout);
    const namespaces = [...lookout.namespaces, ...found.places];
    const leading = await findLeaders(cluster, upstream, { ...lookout, namespaces });
    signs[upstream.name] = [...found.signs];
    led[upstream.name] = [...leading.signs];
    places[upstream.name] = [...found.places];
    blind.push(...found.blind, ...leading.blind);
    ignored.push(...found.ignored);
    at = found.date;
  }
  return { seen: { at, signs, led, places }, blind, ignored };
};

export const openSighter = ({ key, cursors, report, ...seeing }: Parts): Sighter => {
  const sightings = openSignStore(cursors, key);
  const warn = (line: string): void => report("warn", line);
  const tell = openTelling(warn);
  let isUnsavedTold = false;
  return {
    sightings,
    look: async () => {
      const { seen, blind, ignored } = await sightedAll(seeing);
      tell.blind(blind);
      tell.ignored(ignored);
      await sightings.save(seen).catch((cause: unknown) => {
        if (!isUnsavedTold)
          warn(
            `the signs of other controllers cannot be saved, so every function looks for them itself: ${errorText(cause)}`,
          );
        isUnsavedTold = true;
      });
      return seen;
    },
  };
};

type Looking = Omit<Parts, "key" | "groups"> & {
  /** Alias of the cluster. */
  readonly alias: string;
  /** Namespaces that the deployment watches; empty: all. */
  readonly namespaces: readonly string[];
  readonly operators: readonly { readonly resource: Pick<Resource, "group"> }[];
};

/** The looks of a deployment for other controllers of its kinds; undefined where no record of them may be kept. */
export const sightingOver = ({ alias, namespaces, operators, ...looking }: Looking) => {
  const key = sightingKey(alias, namespaces);
  const groups = operators.map(({ resource }) => resource.group);
  return key && { groups, sighter: openSighter({ ...looking, key, groups }) };
};

type Watching = Seeing & {
  readonly report: Report;
  readonly sightings: SignStore;
  /** Called when no sign is left: the keys that met the standby must be looked at again. */
  readonly freed: () => void;
  /** Receives what each look has found. */
  readonly found?: (standing: Standing) => void;
};

/**
 * Looks once for a forwarder, and saves the sighting if it has changed. A failed or incomplete look changes nothing:
 * functions then look for themselves.
 */
export const sightOnce = async (watching: Watching): Promise<void> => {
  const { report, sightings, freed } = watching;
  try {
    const { seen, blind } = await sightedAll(watching);
    if (blind.length > 0) return report("debug", `cannot see whether another controller is alive: ${blind.join("; ")}`);
    const standing = standingIn(seen);
    watching.found?.(standing);
    const before = await sightings.load();
    await sightings.save(seen);
    if (before !== undefined && [...standingIn(before).keys()].some((name) => !standing.has(name))) freed();
  } catch (cause) {
    report("debug", "cannot look for other controllers", { error: errorText(cause) });
  }
};

/** Looks at an interval until the returned function is called. */
export const startSighting = (watching: Watching): (() => Promise<void>) =>
  startRounds(async () => {
    await sightOnce(watching);
    return lookMs;
  }, firstLookMs);

type Settings = {
  readonly cluster: Cluster;
  /** Without leases there is no detection. */
  readonly lookout: Lookout;
  readonly operators: readonly Pick<Operator<unknown>, "kind" | "resource" | "family">[];
  readonly report: Report;
  /** Finds signs of a controller other than its lease; absent: leases alone count. */
  readonly sighter?: Sighter | undefined;
  /** True: this function looks itself, which renews the record for others; absent: it reads the record. */
  readonly looks?: boolean;
  /** Monotonic, ms. */
  readonly now: () => number;
};

export type FunctionStandby = {
  /** Returns the signs for which nothing of this kind may be written. Throws where the server cannot be read. */
  signs(kind: string): Promise<readonly string[]>;
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

const placesIn = (sighting: StoredSigns | undefined, { name }: Upstream): readonly string[] =>
  sighting?.places[name] ?? [];

export const openStandby = (settings: Settings): FunctionStandby => {
  const { cluster, lookout, operators, report, sighter, looks = false, now } = settings;
  const familyOf = new Map(
    operators.map(({ kind, resource: { group }, family = group }) => [kind, upstreamsOf([family])[0]]),
  );
  const tell = openTelling((line) => report("warn", line));
  const told = new Set<string>();
  let seen: { readonly sighting: StoredSigns; readonly at: number } | undefined;
  const seenNow = async (date: number): Promise<StoredSigns | undefined> => {
    if (sighter === undefined) return undefined;
    if (seen === undefined || now() - seen.at >= rereadMs)
      seen = { sighting: await (looks ? sighter.look() : sighted(sighter, date)), at: now() };
    return seen.sighting;
  };
  const look = async (family: Upstream): Promise<readonly string[]> => {
    const leadersIn = (places: readonly string[]) =>
      findLeaders(cluster, family, { ...lookout, namespaces: [...lookout.namespaces, ...places] });
    const before = placesIn(seen?.sighting, family);
    const first = await leadersIn(before);
    const sighting = await seenNow(first.date);
    const places = placesIn(sighting, family);
    const leading = places.every((one) => before.includes(one)) ? first : await leadersIn(places);
    tell.blind(leading.blind);
    const signs = [...leading.signs, ...(sighting?.signs[family.name] ?? [])];
    if (signs.length > 0 && !told.has(signs.join())) report("warn", standbyText(signs));
    if (signs.length > 0) told.add(signs.join());
    return signs;
  };
  /** The latest look of each family. */
  const known = new Map<Upstream, { readonly signs: Promise<readonly string[]>; readonly at: number }>();
  const signsNow = async (family: Upstream): Promise<readonly string[]> => {
    const kept = known.get(family);
    const latest = kept === undefined || now() - kept.at >= ageMs ? { signs: look(family), at: now() } : kept;
    known.set(family, latest);
    return await latest.signs.catch((cause: unknown) => {
      if (known.get(family) === latest) known.delete(family);
      throw cause;
    });
  };
  return {
    signs: async (kind) => {
      const family = familyOf.get(kind);
      return lookout.leases.length > 0 && family !== undefined ? await signsNow(family) : [];
    },
  };
};

/** Makes the standby of steps from the signs for a kind. `wall`: the machine's clock, epoch ms. */
export const standbyOfSteps =
  (
    signsOf: (kind: string) => readonly string[] | Promise<readonly string[]>,
    wall: () => number,
  ): NonNullable<World["standby"]> =>
  async (kind) => {
    const signs = await signsOf(kind);
    return signs.length === 0 ? undefined : { why: `standby: ${signs.join("; ")}`, now: wall() };
  };

/** The other controllers that the latest look has found. */
export type StandingBoard = {
  tell(standing: Standing): void;
  all(): Standing;
};

export const openStandingBoard = (): StandingBoard => {
  let latest: Standing = new Map();
  return {
    tell: (standing) => {
      latest = standing;
    },
    all: () => latest,
  };
};
