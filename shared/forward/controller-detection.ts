/** Looks for other controllers of the same kinds before anything is written: two of them would undo each other's work. */
import { ApiError } from "../core/errors.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Cluster } from "../engine/ports.ts";
import { namespaces, pods } from "../kube/resources.ts";
import { signsOf, type Upstream, upstreams, writingSigns } from "../kube/upstream-controllers.ts";

const leases: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };
const deployments: Resource = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };

export type Lookout = {
  /** One line per sign of another controller. */
  readonly signs: readonly string[];
  /** What could not be looked at, and why: no sign there means nothing. */
  readonly blind: readonly string[];
};

type Look = {
  readonly items: readonly Stored[];
  /** The API server's clock at its answer; where we may not look there is none. */
  readonly date?: number;
  readonly blind: readonly string[];
};

type Chosen = { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };

/** Answers that stay the same however often one asks: the right is missing, or nobody serves it. Any other is trouble. */
const refusals: ReadonlySet<number> = new Set([403, 404, 405]);

const isRefusal = (cause: unknown): cause is ApiError => cause instanceof ApiError && refusals.has(cause.status);

/** Objects in all namespaces, of a name or with labels if they are given; where we may not look, that is told. */
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

/** Whose status tells that another controller is at work, page by page; metadata is enough. */
export type Ours = () => AsyncIterable<readonly Stored[]>;

/** Signs in the objects themselves. A kind that is not served has none. */
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

/** With whoever holds one of these leases besides. */
const withNames = (known: readonly Upstream[], names: readonly string[]): readonly Upstream[] => {
  const others = names.filter((name) => !upstreams.some((upstream) => upstream.leases.includes(name)));
  return [...known, { name: "another controller", leases: others, groups: [], labels: {}, image: /^$/ }];
};

/** What runs: Deployments that are meant to, and Ready pods. */
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
 * Signs of `known` beside their leases: Deployments, Ready pods, and fresh writes of the status of `ours`. The API server's
 * clock, which `date` is, decides whether a status is fresh.
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
 * Signs of other controllers. `names` are leases to look for besides those of `known`, `ours` the objects that are to be
 * looked after. The API server's clock decides whether a lease is alive and a status fresh.
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

/** Signs of `known`, and of who holds one of the leases `names`, by their leases alone: cheap enough to be asked for all the time. */
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
