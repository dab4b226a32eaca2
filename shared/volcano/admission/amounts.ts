/** Amounts of resources as queues and groups name them, read, compared, added and written as upstream's scheduler does. */

import { type Quantity, quantityOf, quantityText } from "../../kube/quantity.ts";
import { isRecord } from "../../kube/responses.ts";
import { amountSaying } from "../schema/resources.ts";

export type Amounts = ReadonlyMap<string, Quantity>;

/** One of a field's amounts, or what is wrong with it. */
type Read = { readonly amounts: Amounts; readonly wrong: readonly string[] };

/** A field that holds amounts by the names of resources. */
export const amountsIn = (value: unknown, path: string): Read => {
  const entries = isRecord(value) ? Object.entries(value) : [];
  const wrong = entries.flatMap(([name, amount]) => amountSaying(`${path}.${name}`, amount) ?? []);
  const amounts = entries.flatMap(([name, amount]): readonly (readonly [string, Quantity])[] => {
    const quantity = quantityOf(amount);
    return quantity === undefined ? [] : [[name, quantity]];
  });
  return { amounts: new Map(amounts), wrong };
};

/** What the scheduler counts: thousandths, of memory and pods whole ones. Absent is 0. */
export type Measure = ReadonlyMap<string, number>;

const whole = new Set(["memory", "pods"]);

/** Upwards to the next whole part, as Kubernetes does. */
const counted = ({ nano }: Quantity, part: bigint): number => {
  const up = nano > 0n && nano % part !== 0n ? 1n : 0n;
  return Number(nano / part + up);
};

/** Quotas count objects, which are no resource of a pod; names without a domain are none that nodes have. */
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

/** True where any of what upstream compares is less: CPU and memory always, others where the left names them. */
export const lessPartly = (left: Measure, right: Measure): boolean =>
  [...new Set(["cpu", "memory", ...left.keys()])].some((name) => valueIn(left, name) < valueIn(right, name));

const text = (value: number): string => value.toFixed(2);

/** As upstream's scheduler prints what it compares. */
export const measureText = (measure: Measure): string => {
  const others = [...measure].filter(([name]) => name !== "cpu" && name !== "memory");
  const told = others.map(([name, value]) => `, ${name} ${text(value)}`).join("");
  return `cpu ${text(valueIn(measure, "cpu"))}, memory ${text(valueIn(measure, "memory"))}${told}`;
};

/** One value as people write it. */
export const valueText = (name: string, value: number): string => {
  if (name === "cpu") return quantityText({ nano: BigInt(Math.trunc(value)) * 1_000_000n, format: "decimal" });
  if (name === "memory") return quantityText({ nano: BigInt(Math.trunc(value)) * 1_000_000_000n, format: "binary" });
  return text(value);
};

/** What the scheduler does not tell from nothing. */
const least = 0.1;

export const namesIn = (measure: Measure): readonly string[] =>
  [...measure].filter(([, value]) => value >= least).map(([name]) => name);
