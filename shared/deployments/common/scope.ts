/** The scope of a deployment: the keys of one cluster, in its namespaces, whose objects its selector selects. */
import type { Key } from "../../core/key.ts";
import type { World } from "../../engine/context/world.ts";
import { selectorOf } from "../../kube/selector.ts";
import type { NamespaceScope } from "./namespaces.ts";

export type Scope = {
  /** Alias of the cluster in keys. */
  readonly cluster: string;
  /** Namespaces to watch and list; empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Label selector of the applications. */
  readonly selector: string | undefined;
};

type Charge = Pick<Scope, "cluster" | "selector"> & { readonly territory: NamespaceScope };

/**
 * Returns the check of a key against the scope. `labels` undefined: the object is not read yet, and the key alone
 * decides.
 */
export const scopeCheckOf = ({ cluster, selector, territory }: Charge): NonNullable<World["inCharge"]> => {
  const selects = selectorOf(selector ?? "") ?? (() => false);
  return async (key: Key, labels) =>
    key.cluster === cluster &&
    (labels === undefined || key.namespace === "" || selects(labels)) &&
    (await territory.within())(key.namespace);
};
