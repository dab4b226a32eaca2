/** Checks guarantee, deserved and capability of a queue: each is an amount, and none exceeds the next. */
import { type Quantity, quantityText } from "../../kube/quantity.ts";
import { invalid } from "../queue/invalid.ts";
import type { Amounts } from "./amounts.ts";

const spec = "requestBody.spec";

/** True for resources without fractions: object counts, and vendors' resources. */
const isWhole = (name: string): boolean =>
  ["pods", "services", "secrets", "configmaps", "persistentvolumeclaims"].includes(name) ||
  (name.includes("/") && !/(^|\.)kubernetes\.io\//.test(name) && !name.startsWith("requests."));

const thousandth = 1_000_000n;
const one = 1_000n * thousandth;

const inParts = ({ nano }: Quantity): boolean => {
  const up = nano % thousandth === 0n ? nano : (nano / thousandth + 1n) * thousandth;
  return up % one !== 0n;
};

const valueErrors = (path: string, name: string, amount: Quantity): readonly string[] => [
  ...(amount.nano < 0n ? [invalid(path, quantityText(amount), "must be greater than or equal to 0")] : []),
  ...(isWhole(name) && inParts(amount) ? [invalid(path, quantityText(amount), "must be an integer")] : []),
];

const valuesErrors = (path: string, amounts: Amounts): readonly string[] =>
  [...amounts].flatMap(([name, amount]) => valueErrors(`${path}.${name}`, name, amount));

type Sizes = { readonly capability: Amounts; readonly deserved: Amounts; readonly guarantee: Amounts };

const guaranteeErrors = ({ guarantee, deserved }: Sizes): readonly string[] =>
  [...guarantee].flatMap(([name, least]) => {
    const own = valueErrors(`${spec}.guarantee.resource.${name}`, name, least);
    const path = `${spec}.deserved.${name}`;
    const wanted = `must be >= guarantee[${name}]=${quantityText(least)}`;
    const amount = deserved.get(name);
    if (amount === undefined) return [...own, invalid(path, "<nil>", `deserved[${name}] ${wanted}`)];
    if (amount.nano >= least.nano) return own;
    return [...own, invalid(path, quantityText(amount), `deserved[${name}]=${quantityText(amount)} ${wanted}`)];
  });

const deservedErrors = ({ deserved, capability }: Sizes): readonly string[] =>
  [...deserved].flatMap(([name, amount]) => {
    const bound = capability.get(name);
    if (bound === undefined || amount.nano <= bound.nano) return [];
    const message = `deserved[${name}]=${quantityText(amount)} must be <= capability[${name}]=${quantityText(bound)}`;
    return [invalid(`${spec}.deserved.${name}`, quantityText(amount), message)];
  });

export const capacityErrors = (sizes: Sizes): readonly string[] => [
  ...valuesErrors(`${spec}.capability`, sizes.capability),
  ...valuesErrors(`${spec}.deserved`, sizes.deserved),
  ...guaranteeErrors(sizes),
  ...deservedErrors(sizes),
];
