/** The defaults of a queue's fields, the same in admission and in reconcile. As volcano's webhook. */
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import type { Json } from "../../kube/responses.ts";
import { hierarchyKey, weightsKey } from "./hierarchy.ts";

type Texts = Readonly<Record<string, string>>;

/** Begins a path of the hierarchy at the root. */
export const rooted = (annotations: Texts): Texts => {
  const { [hierarchyKey]: path = "", [weightsKey]: weights = "" } = annotations;
  if (path === "" || weights === "" || path.startsWith("root")) return annotations;
  return { ...annotations, [hierarchyKey]: `root/${path}`, [weightsKey]: `1/${weights}` };
};

/** Returns defaults for the fields that a spec leaves open. */
export const specGaps = ({ weight, reclaimable }: Json): Json => ({
  ...(weight === undefined || weight === null || weight === 0 ? { weight: 1 } : {}),
  ...(reclaimable === undefined || reclaimable === null ? { reclaimable: true } : {}),
});

/** Returns the missing defaults of a queue that was stored without admission; undefined if none is missing. */
export const queueGaps = ({ metadata: { annotations = {} }, spec }: Stored): Json | undefined => {
  const open = specGaps(fieldsOf(spec));
  const path = rooted(annotations);
  const patch = {
    ...(Object.keys(open).length === 0 ? {} : { spec: open }),
    ...(path === annotations
      ? {}
      : { metadata: { annotations: { [hierarchyKey]: path[hierarchyKey], [weightsKey]: path[weightsKey] } } }),
  };
  return Object.keys(patch).length === 0 ? undefined : patch;
};
