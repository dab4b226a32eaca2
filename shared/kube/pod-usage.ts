/** The usage of a pod as a quota counts it in Kubernetes, with extended resources also under their own names. */

import { fieldsOf, isRecord, recordsIn } from "../core/json.ts";
import { withRequests } from "./pod-defaults.ts";
import { larger, plus, type Quantity, quantityOf, times } from "./quantity.ts";
import type { Json } from "./responses.ts";

export type Amounts = ReadonlyMap<string, Quantity>;

type Kind = "requests" | "limits";

const none: Quantity = { nano: 0n, format: "decimal" };

export const merged = (a: Amounts, b: Amounts, join: (x: Quantity, y: Quantity) => Quantity = plus): Amounts =>
  new Map(
    [...new Set([...a.keys(), ...b.keys()])].map((name) => [name, join(a.get(name) ?? none, b.get(name) ?? none)]),
  );

/** Returns the amounts of a list of resources, without those that are no quantities. */
export const amountsIn = (value: unknown): Amounts => {
  const entries = Object.entries(fieldsOf(value));
  return new Map(
    entries.flatMap(([name, amount]): readonly [string, Quantity][] => {
      const quantity = quantityOf(amount);
      return quantity === undefined ? [] : [[name, quantity]];
    }),
  );
};

const resourcesOf = (holder: Json, kind: Kind): Amounts => {
  const { resources } = holder;
  return amountsIn(isRecord(resources) ? resources[kind] : undefined);
};

type Sum = Map<string, Quantity>;

/** Adds amounts in place: a copy of the sum for each container would take the square of their number. */
export const add = (sum: Sum, amounts: Amounts): void => {
  for (const [name, amount] of amounts) sum.set(name, plus(sum.get(name) ?? none, amount));
};

const summed = (containers: readonly Json[], kind: Kind): Amounts => {
  const sum: Sum = new Map();
  for (const one of containers) add(sum, resourcesOf(one, kind));
  return sum;
};

/** Init containers run one after the other, each beside the sidecars that were started before it. */
const starting = (inits: readonly Json[], kind: Kind): { readonly peak: Amounts; readonly sidecars: Amounts } => {
  const sidecars: Sum = new Map();
  const peak: Sum = new Map();
  for (const init of inits) {
    const own = resourcesOf(init, kind);
    // The amounts of other resources are as beside the container before.
    for (const [name, amount] of own)
      peak.set(name, larger(peak.get(name) ?? none, plus(sidecars.get(name) ?? none, amount)));
    if (init["restartPolicy"] === "Always") add(sidecars, own);
  }
  return { peak, sidecars };
};

/** Resources of the pod as a whole precede the sum of its containers'. */
const podWide = (spec: Json, kind: Kind, added: Amounts): Amounts => new Map([...added, ...resourcesOf(spec, kind)]);

const amountsOf = (spec: Json, kind: Kind): Amounts => {
  const { peak, sidecars } = starting(recordsIn(spec["initContainers"]), kind);
  const running = merged(summed(recordsIn(spec["containers"]), kind), sidecars);
  const whole = podWide(spec, kind, merged(running, peak, larger));
  const overhead = amountsIn(spec["overhead"]);
  if (kind === "requests") return merged(whole, overhead);
  return new Map([...whole].map(([name, amount]) => [name, plus(amount, overhead.get(name) ?? none)]));
};

const counted = new Set(["cpu", "memory", "ephemeral-storage"]);

const isExtended = (name: string): boolean => name.includes("/") && !name.includes("kubernetes.io/");

const requested = ([name, amount]: readonly [string, Quantity]): readonly (readonly [string, Quantity])[] => {
  const both = counted.has(name) || name.startsWith("hugepages-") || isExtended(name);
  return both
    ? [
        [name, amount],
        [`requests.${name}`, amount],
      ]
    : [];
};

const limited = ([name, amount]: readonly [string, Quantity]): readonly (readonly [string, Quantity])[] =>
  counted.has(name) ? [[`limits.${name}`, amount]] : [];

const one: Quantity = { nano: 1_000_000_000n, format: "decimal" };

export const usageOf = (spec: Json): Amounts =>
  new Map([
    ["pods", one],
    ["count/pods", one],
    ...[...amountsOf(spec, "requests")].flatMap(requested),
    ...[...amountsOf(spec, "limits")].flatMap(limited),
  ]);

const withLimits = (holder: Json): Json => {
  const { resources } = holder;
  if (!isRecord(resources)) return holder;
  return { ...holder, resources: withRequests(resources) };
};

/** A limit without a request is the request, as the API server sets it when the pod is created. */
const asCreated = (spec: Json): Json =>
  withLimits({
    ...spec,
    containers: recordsIn(spec["containers"]).map(withLimits),
    initContainers: recordsIn(spec["initContainers"]).map(withLimits),
  });

/** Returns the requests of a pod, once it is created, as kube-scheduler counts them, by resource; `pods` is 1. */
export const requestsOf = (spec: Json): Amounts => new Map([...amountsOf(asCreated(spec), "requests"), ["pods", one]]);

/** The usage of a pod once it is created. */
export const usageAtCreation = (spec: Json): Amounts => usageOf(asCreated(spec));

export const multiply = (amounts: Amounts, count: number): Amounts =>
  new Map([...amounts].map(([name, amount]) => [name, times(amount, count)]));
