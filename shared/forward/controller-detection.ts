/**
 * Detects other controllers of the same kinds before anything is written: two controllers would undo each other's
 * work. The last signs of them, apart from leases, are one record for all functions of a deployment.
 */

import * as z from "zod";
import { ApiError } from "../core/http.ts";
import { jsonOf } from "../core/json.ts";
import type { Key } from "../core/key.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Cluster } from "../engine/ports.ts";
import { namespaces, pods } from "../kube/resources.ts";
import { signsOf, type Upstream, upstreams, writingSigns } from "../kube/upstream-controllers.ts";
import type { Cursors } from "./cursors.ts";

const leases: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };
const deployments: Resource = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };

export type Lookout = {
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
export type Ours = () => AsyncIterable<readonly Stored[]>;

/** Finds signs in the objects themselves. A kind that is not served has none. */
const writersIn = async (
  ours: Ours,
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

type Working = Lookout & {
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
  ours: Ours = async function* () {},
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
  ours: Ours = async function* () {},
  known: readonly Upstream[] = upstreams,
): Promise<Lookout> => {
  const [held, working] = await Promise.all([lookAt(cluster, leases), findWorkers(cluster, known, ours)]);
  const led = signsOf(withNames(known, names), { leases: held.items, deployments: [], now: working.date });
  return { signs: [...led, ...working.signs, ...working.written], blind: [...held.blind, ...working.blind] };
};

/** Finds signs of `known`, and of holders of the leases `names`, by leases alone: cheap enough for frequent checks. */
export const findLeaders = async (
  cluster: Cluster,
  names: readonly string[],
  known: readonly Upstream[],
): Promise<Lookout & { readonly date: number }> => {
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

export type Sighting = z.infer<typeof sighting>;

/** Returns all stored signs of an upstream. */
export const signsIn = ({ signs, written }: Sighting, name: string): readonly string[] => [
  ...(signs[name] ?? []),
  ...(written[name] ?? []),
];

export type Sightings = {
  /** Undefined if nothing was stored, or the record cannot be read. */
  load(): Promise<Sighting | undefined>;
  /**
   * Stores changed signs. In a quiet cluster the record is only renewed now and then, as proof that a function still
   * looks.
   */
  save(seen: Sighting): Promise<void>;
};

/** A record that was not renewed for this long, ms, is outdated: no function renews it. */
export const trustedMs = 7_200_000;
const renewedMs = 3_600_000;

/** Returns the text to compare; the age of a status write is left out of it. */
const gistOf = ({ signs, written }: Sighting): string => JSON.stringify({ signs, written }).replace(/\b\d+ s ago/g, "");

/** Opens the record beside those of the cursors. */
export const openSightings = (cursors: Cursors, key: Key): Sightings => {
  const load = async (): Promise<Sighting | undefined> =>
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
