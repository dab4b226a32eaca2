/**
 * The defaults of a queue's fields, the same in admission and in reconcile, as volcano's webhook; among them the older
 * hierarchy by annotations, a path and a weight for each of its parts.
 */
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import type { Json } from "../../kube/responses.ts";

export const invalid = (path: string, value: string, what: string): string =>
  `${path}: Invalid value: ${JSON.stringify(value)}: ${what}`;

/** Joins several errors in brackets, each once; empty if there is none. */
export const joinedErrors = (errors: readonly string[]): string => {
  const once = [...new Set(errors)];
  return once.length > 1 ? `[${once.join(", ")}]` : (once[0] ?? "");
};

const hierarchyKey = "volcano.sh/hierarchy";
const weightsKey = "volcano.sh/hierarchy-weights";

const path = "requestBody.metadata.annotations";

type Placed = { readonly name: string; readonly annotations: Readonly<Record<string, string>> };

/** Go's decimal forms of a number. */
const numeric = /^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const endless = /^[+-]?(inf|infinity|nan)$/i;

const weightError = (weight: string, weights: string): string | undefined => {
  const wrong = (why: string): string =>
    invalid(path, weights, `${weight} in the ${weights} is invalid number: strconv.ParseFloat: parsing ${why}`);
  if (endless.test(weight)) return weight.startsWith("-") ? small(weight, weights) : undefined;
  if (!numeric.test(weight)) return wrong(`${JSON.stringify(weight)}: invalid syntax`);
  if (!Number.isFinite(Number(weight))) return wrong(`${JSON.stringify(weight)}: value out of range`);
  return Number(weight) > 0 ? undefined : small(weight, weights);
};

const small = (weight: string, weights: string): string =>
  invalid(path, weights, `${weight} in the ${weights} must be larger than 0`);

/** Returns the first error, if there is one. */
export const hierarchyErrors = ({ name, annotations }: Placed, all: readonly Placed[]): readonly string[] => {
  const { [hierarchyKey]: own = "", [weightsKey]: weights = "" } = annotations;
  if (own === "" && weights === "") return [];
  const parts = weights.split("/");
  if (own.split("/").length !== parts.length)
    return [invalid(path, own, `${hierarchyKey} must have the same length with ${weightsKey}`)];
  const wrong = parts.map((weight) => weightError(weight, weights)).find((error) => error !== undefined);
  if (wrong !== undefined) return [wrong];
  const inside = all.find((one) => one.name !== name && one.annotations[hierarchyKey]?.startsWith(`${own}/`));
  if (inside === undefined) return [];
  const its = inside.annotations[hierarchyKey] ?? "";
  return [invalid(path, own, `${own} is not allowed to be in the sub path of ${its} of queue ${inside.name}`)];
};

type Texts = Readonly<Record<string, string>>;

/** Begins a path of the hierarchy at the root. */
export const fromRoot = (annotations: Texts): Texts => {
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
  const path = fromRoot(annotations);
  const patch = {
    ...(Object.keys(open).length === 0 ? {} : { spec: open }),
    ...(path === annotations
      ? {}
      : { metadata: { annotations: { [hierarchyKey]: path[hierarchyKey], [weightsKey]: path[weightsKey] } } }),
  };
  return Object.keys(patch).length === 0 ? undefined : patch;
};
