/**
 * Detects other controllers of the same kinds before anything is written: two controllers would undo each other's
 * work. The last signs of them, apart from leases, are one record for all functions of a deployment; watches show
 * another field manager that writes the status of an object. While another controller is at work, nothing of its kinds
 * is written, and that is logged. The check is repeated, so that a controller may come and go while Rekindle runs.
 */
import * as z from "zod";
import { ApiError } from "../core/http.ts";
import { jsonOf } from "../core/json.ts";
import type { Key } from "../core/key.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Cluster, Report } from "../engine/ports.ts";
import { namespaces, pods } from "../kube/resources.ts";
import { freshMs, signsOf, type Upstream, upstreams, writerOf, writingSigns } from "../kube/upstream-controllers.ts";
import type { Cursors } from "./cursors.ts";

const leases: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };
const deployments: Resource = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };

export type ControllerSigns = {
  /** One line per sign of another controller. */
  readonly signs: readonly string[];
  /** Resources that could not be read, and why; the absence of signs there proves nothing. */
  readonly blind: readonly string[];
};

type Look = {
  readonly items: readonly Stored[];
  /** The API server's clock at its answer; absent if reading is forbidden. */
  readonly date?: number;
  readonly blind: readonly string[];
};

type Chosen = { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };

/** Statuses that do not change with retries: a missing right or an unserved resource. Any other error is trouble. */
const refusals: ReadonlySet<number> = new Set([403, 404, 405]);

const isRefusal = (cause: unknown): cause is ApiError => cause instanceof ApiError && refusals.has(cause.status);

/** Lists objects in all namespaces, by name or labels if given. A refused list is reported in `blind`. */
const lookAt = async (cluster: Cluster, resource: Resource, { name, labels = {} }: Chosen = {}): Promise<Look> => {
  const field = name === undefined ? {} : { field: `metadata.name=${name}` };
  try {
    const { value, date } = await cluster.list({ do: "list", resource, namespace: "", labels, ...field });
    return { items: value, date, blind: [] };
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    return { items: [], blind: [cause.message] };
  }
};

/** Yields the objects whose status may show another controller at work, page by page; metadata is enough. */
export type ListObjects = () => AsyncIterable<readonly Stored[]>;

/** Finds signs in the objects themselves. A kind that is not served has none. */
const writersIn = async (
  ours: ListObjects,
  now: number,
): Promise<Pick<Look, "blind"> & { readonly signs: readonly string[] }> => {
  const found: Stored[] = [];
  try {
    for await (const page of ours()) found.push(...page.filter((object) => writingSigns([object], now).length > 0));
  } catch (cause) {
    if (!isRefusal(cause)) throw cause;
    return { signs: [], blind: cause.status === 404 ? [] : [cause.message] };
  }
  return { signs: writingSigns(found, now), blind: [] };
};

/** Returns the known controllers and one for any holder of the other leases. */
const withNames = (known: readonly Upstream[], names: readonly string[]): readonly Upstream[] => {
  const others = names.filter((name) => !upstreams.some((upstream) => upstream.leases.includes(name)));
  return [...known, { name: "another controller", leases: others, groups: [], labels: {}, image: /^$/ }];
};

/** Running workloads: Deployments with wanted replicas, and Ready pods. */
type Workloads = { readonly deployments: readonly Stored[]; readonly pods: readonly Stored[] } & Pick<Look, "blind">;

const workloadsOf = async (cluster: Cluster, known: readonly Upstream[]): Promise<Workloads> => {
  const [running, ...labelled] = await Promise.all([
    lookAt(cluster, deployments),
    ...known.map(({ labels }) => lookAt(cluster, pods, { labels })),
  ]);
  return {
    deployments: running.items,
    pods: labelled.flatMap(({ items }) => items),
    blind: [running, ...labelled].flatMap(({ blind }) => blind),
  };
};

type Working = ControllerSigns & {
  /** Signs in the objects themselves. */
  readonly written: readonly string[];
  readonly date: number;
};

/**
 * Finds signs of `known` other than leases: Deployments, Ready pods, and recent status writes on `ours`. The API
 * server's clock (`date`) decides whether a write is recent.
 */
export const findWorkers = async (
  cluster: Cluster,
  known: readonly Upstream[],
  ours: ListObjects = async function* () {},
): Promise<Working> => {
  const { date } = await cluster.get({ resource: namespaces, name: "kube-system" });
  const [{ blind, ...running }, written] = await Promise.all([workloadsOf(cluster, known), writersIn(ours, date)]);
  const signs = signsOf(known, { leases: [], ...running, now: date });
  return { signs, written: written.signs, blind: [...blind, ...written.blind], date };
};

/**
 * Finds signs of other controllers. `names` are leases to check besides those of `known`, `ours` the objects in scope.
 * The API server's clock decides whether a lease is held and a status write recent.
 */
export const findOtherControllers = async (
  cluster: Cluster,
  names: readonly string[] = [],
  ours: ListObjects = async function* () {},
  known: readonly Upstream[] = upstreams,
): Promise<ControllerSigns> => {
  const [held, working] = await Promise.all([lookAt(cluster, leases), findWorkers(cluster, known, ours)]);
  const led = signsOf(withNames(known, names), { leases: held.items, deployments: [], now: working.date });
  return { signs: [...led, ...working.signs, ...working.written], blind: [...held.blind, ...working.blind] };
};

/** Finds signs of `known`, and of holders of the leases `names`, by leases alone: cheap enough for frequent checks. */
export const findLeaders = async (
  cluster: Cluster,
  names: readonly string[],
  known: readonly Upstream[],
): Promise<ControllerSigns & { readonly date: number }> => {
  const all = withNames(known, names);
  const wanted = all.flatMap((upstream) => upstream.leases);
  const looks = await Promise.all(wanted.map((name) => lookAt(cluster, leases, { name })));
  const held = looks.flatMap(({ items }) => items);
  const now = Math.max(...looks.map(({ date = 0 }) => date));
  return {
    signs: signsOf(all, { leases: held, deployments: [], now }),
    blind: looks.flatMap(({ blind }) => blind),
    date: now,
  };
};

const sighting = z.object({
  /** By the API server's clock, epoch ms. */
  at: z.number(),
  /** Running workloads, by the name of the upstream. */
  signs: z.record(z.string(), z.array(z.string())),
  /** Recent status writes, by the name of the upstream. */
  written: z.record(z.string(), z.array(z.string())).default({}),
});

export type StoredSigns = z.infer<typeof sighting>;

/** Returns all stored signs of an upstream. */
export const signsIn = ({ signs, written }: StoredSigns, name: string): readonly string[] => [
  ...(signs[name] ?? []),
  ...(written[name] ?? []),
];

export type SignStore = {
  /** Undefined if nothing was stored, or the record cannot be read. */
  load(): Promise<StoredSigns | undefined>;
  /**
   * Stores changed signs. In a quiet cluster the record is only renewed now and then, as proof that a function still
   * looks.
   */
  save(seen: StoredSigns): Promise<void>;
};

/** A record that was not renewed for this long, ms, is outdated: no function renews it. */
export const trustedMs = 7_200_000;
const renewedMs = 3_600_000;

/** Returns the text to compare; the age of a status write is left out of it. */
const gistOf = ({ signs, written }: StoredSigns): string =>
  JSON.stringify({ signs, written }).replace(/\b\d+ s ago/g, "");

/** Opens the record beside those of the cursors. */
export const openSignStore = (cursors: Cursors, key: Key): SignStore => {
  const load = async (): Promise<StoredSigns | undefined> =>
    sighting.safeParse(jsonOf((await cursors.load(key)) ?? "")).data;
  return {
    load,
    save: async (seen) => {
      const kept = await load();
      if (kept !== undefined && gistOf(kept) === gistOf(seen) && seen.at - kept.at < renewedMs) return;
      await cursors.save(key, JSON.stringify(seen));
    },
  };
};

export type Writers = {
  /** Notes the writer of an object's status, from the object as the server sent it. */
  see(object: Stored): void;
  /**
   * Returns one line if another controller wrote the status of objects of these API groups shortly before `now`, epoch
   * ms.
   */
  signs(groups: readonly string[], now: number): readonly string[];
  /** True if the first call was so long before `now` that every write that still counts has been seen. */
  knowsAll(now: number): boolean;
};

const groupOf = ({ apiVersion }: Stored): string => apiVersion.split("/")[0] ?? "";

/**
 * Kinds whose status is also written by components other than these controllers: Volcano's scheduler has its own signs.
 */
const passed: ReadonlySet<string> = new Set(["PodGroup"]);

export const openWriters = (): Writers => {
  const watched = new Set(upstreams.flatMap(({ groups }) => groups));
  /** The object with the newest write, by API group: one is enough for a sign. */
  const newest = new Map<string, { readonly object: Stored; readonly at: number }>();
  let firstQueriedAt: number | undefined;
  return {
    see: (object) => {
      const group = groupOf(object);
      if (!watched.has(group) || passed.has(object.kind)) return;
      // Whether the write is recent is decided later, by the server's clock.
      const writer = writerOf(object, Number.NEGATIVE_INFINITY);
      if (writer === undefined || writer.at <= (newest.get(group)?.at ?? Number.NEGATIVE_INFINITY)) return;
      const { apiVersion, kind, metadata } = object;
      newest.set(group, { object: { apiVersion, kind, metadata }, at: writer.at });
    },
    signs: (groups, now) =>
      writingSigns(
        groups.flatMap((group) => newest.get(group)?.object ?? []),
        now,
      ),
    knowsAll: (now) => {
      firstQueriedAt ??= now;
      return now - firstQueriedAt >= freshMs;
    },
  };
};

/**
 * Returns one line per sign of a controller of an upstream. `thorough`: before anything begins, and while a controller
 * is at work; `lease`: leases and signs from the watches; `workloads`: Deployments and pods, too.
 */
export type FindControllers = (upstream: string, how: "thorough" | "workloads" | "lease") => Promise<readonly string[]>;

export type Standby = {
  /** True while nothing of this API group may be written. */
  aside(group: string): boolean;
  stop(): void;
};

export type StandbyParts = {
  readonly look: FindControllers;
  /** The API groups of the kinds that this deployment runs. */
  readonly groups: readonly string[];
  readonly everyMs: number;
  readonly report: Report;
  /** Called when another controller has gone: its objects must be looked at again. */
  readonly freed: () => void;
};

/** In one of this many rounds Deployments and pods are checked, too. */
const workloadRounds = 6;

const textOfError = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/**
 * Checks once before anything begins, and throws an error of that check. Then checks periodically; an error of these
 * checks changes nothing.
 */
export const startStandby = async ({ look, groups, everyMs, report, freed }: StandbyParts): Promise<Standby> => {
  const families = upstreams.filter((upstream) => upstream.groups.some((group) => groups.includes(group)));
  const led = new Set<string>();
  const judge = (name: string, signs: readonly string[], began: boolean): void => {
    if (signs.length > 0 && !led.has(name)) {
      led.add(name);
      report("warn", `standby: ${signs.join("; ")}; Rekindle writes nothing for these kinds meanwhile`);
    } else if (signs.length === 0 && led.delete(name)) {
      report("info", `${name} no longer leads: taking over its kinds`);
      if (!began) freed();
    }
  };
  let rounds = 0;
  const round = async (began: boolean): Promise<void> => {
    rounds += 1;
    const usual = rounds % workloadRounds === 0 ? "workloads" : "lease";
    for (const { name } of families) {
      try {
        judge(name, await look(name, began || led.has(name) ? "thorough" : usual), began);
      } catch (cause) {
        if (began) throw cause;
        report("debug", "cannot see whether another controller leads", { upstream: name, error: textOfError(cause) });
      }
    }
  };
  await round(true);
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const next = (): void => {
    timer = setTimeout(() => {
      void round(false).then(() => (stopped ? undefined : next()));
    }, everyMs);
  };
  next();
  return {
    aside: (group) => families.some(({ name, groups: own }) => led.has(name) && own.includes(group)),
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
};
