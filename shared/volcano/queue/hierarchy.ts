/** The older hierarchy of queues, by annotations: a path and a weight for each of its parts. */
import { invalid } from "./invalid.ts";

export const hierarchyKey = "volcano.sh/hierarchy";
export const weightsKey = "volcano.sh/hierarchy-weights";

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
