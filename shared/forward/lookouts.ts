/** Looks for other controllers of the same kinds before anything is written: two of them would undo each other's work. */
import { ApiError } from "../core/errors.ts";
import type { Resource, Stored } from "../core/object.ts";
import type { Cluster } from "../engine/ports.ts";
import { signsOf, type Upstream, upstreams } from "../kube/upstreams.ts";

const leases: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };
const deployments: Resource = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment" };

export type Lookout = {
  /** One line per sign of another controller. */
  readonly signs: readonly string[];
  /** What could not be looked at, and why: no sign there means nothing. */
  readonly blind: readonly string[];
};

type Look = { readonly items: readonly Stored[]; readonly date: number | undefined; readonly blind: readonly string[] };

/** Objects in all namespaces; where we may not look, that is told. */
const lookAt = async (cluster: Cluster, resource: Resource): Promise<Look> => {
  try {
    const { value, date } = await cluster.list({ do: "list", resource, namespace: "", labels: {} });
    return { items: value, date, blind: [] };
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.status < 400 || cause.status >= 500) throw cause;
    return { items: [], date: undefined, blind: [cause.message] };
  }
};

/**
 * Signs of other controllers. `names` are leases to look for besides those of `known`. The API server's clock decides
 * whether a lease is alive.
 */
export const findOtherControllers = async (
  cluster: Cluster,
  names: readonly string[] = [],
  known: readonly Upstream[] = upstreams,
): Promise<Lookout> => {
  const [held, running] = await Promise.all([lookAt(cluster, leases), lookAt(cluster, deployments)]);
  const others = names.filter((name) => !known.some((upstream) => upstream.leases.includes(name)));
  const all = others.length === 0 ? known : [...known, { name: "another controller", leases: others, image: /^$/ }];
  const now = held.date ?? running.date ?? 0;
  return {
    signs: signsOf(all, { leases: held.items, deployments: running.items, now }),
    blind: [...held.blind, ...running.blind],
  };
};
