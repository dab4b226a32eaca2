/** What a deployment is in charge of: one cluster's keys, in its namespaces, whose objects its selector selects. */
import type { Key } from "../core/key.ts";
import type { World } from "../engine/world.ts";
import { selectorOf } from "../kube/selector.ts";

export type Scope = {
  /** Alias of the cluster in keys. */
  readonly cluster: string;
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  /** Label selector of the applications. */
  readonly selector: string | undefined;
};

/** Labels are unknown while nobody has looked: then the key alone decides. */
export const chargeOf = ({ cluster, namespaces, selector }: Scope): NonNullable<World["inCharge"]> => {
  const selects = selectorOf(selector ?? "") ?? (() => false);
  return (key: Key, labels) =>
    key.cluster === cluster &&
    (namespaces.length === 0 || namespaces.includes(key.namespace)) &&
    (labels === undefined || selects(labels));
};
