/** Amounts of resources in queues and groups: read, compared, added and written as upstream's scheduler does. */

import { type Quantity, quantityOf, quantityText } from "../../kube/quantity.ts";
import { isRecord } from "../../kube/responses.ts";
import { amountSaying } from "../schema/resources.ts";

export type Amounts = ReadonlyMap<string, Quantity>;

/** The amounts of a field, and its errors. */
type Read = { readonly amounts: Amounts; readonly wrong: readonly string[] };

/** Reads a field that holds amounts by the names of resources. */
export const amountsIn = (value: unknown, path: string): Read => {
  const entries = isRecord(value) ? Object.entries(value) : [];
  const wrong = entries.flatMap(([name, amount]) => amountSaying(`${path}.${name}`, amount) ?? []);
  const amounts = entries.flatMap(([name, amount]): readonly (readonly [string, Quantity])[] => {
    const quantity = quantityOf(amount);
    return quantity === undefined ? [] : [[name, quantity]];
  });
  return { amounts: new Map(amounts), wrong };
};

/** Amounts as the scheduler counts them: in thousandths, memory and pods in whole units. Absent is 0. */
export type Measure = ReadonlyMap<string, number>;

const whole = new Set(["memory", "pods"]);

/** Rounds up to the next whole part, as Kubernetes does. */
const counted = ({ nano }: Quantity, part: bigint): number => {
  const up = nano > 0n && nano % part !== 0n ? 1n : 0n;
  return Number(nano / part + up);
};

/** True for resources that nodes have. Object counts of quotas and other names without a domain are none. */
const isCounted = (name: string): boolean =>
  ["cpu", "memory", "pods", "ephemeral-storage"].includes(name) ||
  /^(hugepages-|attachable-volumes-)/.test(name) ||
  (name.includes("/") && !name.startsWith("count/"));

export const measureOf = (amounts: Amounts): Measure =>
  new Map(
    [...amounts]
      .filter(([name]) => isCounted(name))
      .map(([name, quantity]) => [name, counted(quantity, whole.has(name) ? 1_000_000_000n : 1_000_000n)]),
  );

export const valueIn = (measure: Measure, name: string): number => measure.get(name) ?? 0;

export const sumOf = (a: Measure, b: Measure): Measure =>
  new Map([...new Set([...a.keys(), ...b.keys()])].map((name) => [name, valueIn(a, name) + valueIn(b, name)]));

/** True if any value that upstream compares is less: CPU and memory always, others if the left measure names them. */
export const lessPartly = (left: Measure, right: Measure): boolean =>
  [...new Set(["cpu", "memory", ...left.keys()])].some((name) => valueIn(left, name) < valueIn(right, name));

const text = (value: number): string => value.toFixed(2);

/** Writes a measure as upstream's scheduler prints it. */
export const measureText = (measure: Measure): string => {
  const others = [...measure].filter(([name]) => name !== "cpu" && name !== "memory");
  const further = others.map(([name, value]) => `, ${name} ${text(value)}`).join("");
  return `cpu ${text(valueIn(measure, "cpu"))}, memory ${text(valueIn(measure, "memory"))}${further}`;
};

/** Writes one value as users do. */
export const valueText = (name: string, value: number): string => {
  if (name === "cpu") return quantityText({ nano: BigInt(Math.trunc(value)) * 1_000_000n, format: "decimal" });
  if (name === "memory") return quantityText({ nano: BigInt(Math.trunc(value)) * 1_000_000_000n, format: "binary" });
  return text(value);
};

/** The least value that the scheduler tells from zero. */
const least = 0.1;

export const namesIn = (measure: Measure): readonly string[] =>
  [...measure].filter(([, value]) => value >= least).map(([name]) => name);
