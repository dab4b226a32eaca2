/** The tree that queues form by `spec.parent`: a queue's amounts against its ancestors, siblings and children. */

import { isRecord } from "../../core/json.ts";
import { amountsIn } from "../../kube/pod-usage.ts";
import { type Quantity, quantityText } from "../../kube/quantity.ts";

import { isTop, leafSaying, nextSaying, notFound } from "../queue/state/tree.ts";
import { amountSaying } from "../validation/parse.ts";

export type Amounts = ReadonlyMap<string, Quantity>;

/** The amounts of a field, and its errors. */
type Read = { readonly amounts: Amounts; readonly wrong: readonly string[] };

/** Reads a field that holds amounts by the names of resources. */
export const readAmounts = (value: unknown, path: string): Read => {
  const entries = isRecord(value) ? Object.entries(value) : [];
  const wrong = entries.flatMap(([name, amount]) => amountSaying(`${path}.${name}`, amount) ?? []);
  return { amounts: amountsIn(value), wrong };
};

/** Amounts as the scheduler counts them: in thousandths, memory and pods in whole units. Absent is 0. */
type Measure = ReadonlyMap<string, number>;

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

const measureOf = (amounts: Amounts): Measure =>
  new Map(
    [...amounts]
      .filter(([name]) => isCounted(name))
      .map(([name, quantity]) => [name, counted(quantity, whole.has(name) ? 1_000_000_000n : 1_000_000n)]),
  );

const valueIn = (measure: Measure, name: string): number => measure.get(name) ?? 0;

const sumOf = (a: Measure, b: Measure): Measure =>
  new Map([...new Set([...a.keys(), ...b.keys()])].map((name) => [name, valueIn(a, name) + valueIn(b, name)]));

/** True if any value that upstream compares is less: CPU and memory always, others if the left measure names them. */
const lessPartly = (left: Measure, right: Measure): boolean =>
  [...new Set(["cpu", "memory", ...left.keys()])].some((name) => valueIn(left, name) < valueIn(right, name));

const text = (value: number): string => value.toFixed(2);

/** Writes a measure as upstream's scheduler prints it. */
const measureText = (measure: Measure): string => {
  const others = [...measure].filter(([name]) => name !== "cpu" && name !== "memory");
  const further = others.map(([name, value]) => `, ${name} ${text(value)}`).join("");
  return `cpu ${text(valueIn(measure, "cpu"))}, memory ${text(valueIn(measure, "memory"))}${further}`;
};

/** Writes one value as users do. */
const valueText = (name: string, value: number): string => {
  if (name === "cpu") return quantityText({ nano: BigInt(Math.trunc(value)) * 1_000_000n, format: "decimal" });
  if (name === "memory") return quantityText({ nano: BigInt(Math.trunc(value)) * 1_000_000_000n, format: "binary" });
  return text(value);
};

/** The least value that the scheduler tells from zero. */
const least = 0.1;

const namesIn = (measure: Measure): readonly string[] =>
  [...measure].filter(([, value]) => value >= least).map(([name]) => name);

/** A queue as its rules need it. `parent` is "" if it names none. */
export type Queue = {
  readonly name: string;
  readonly parent: string;
  readonly state: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly capability: Amounts;
  readonly deserved: Amounts;
  readonly guarantee: Amounts;
  readonly allocated: Amounts;
};

type Queues = readonly Queue[];

const named = (name: string, all: Queues): Queue | undefined => all.find((queue) => queue.name === name);

export const childrenOf = (name: string, all: Queues): Queues => all.filter(({ parent }) => parent === name);

/** Returns the function that finds the parent of a queue; undefined: there is no such queue. */
export const parentIn = (all: Queues) => {
  const parents = new Map(all.map(({ name, parent }) => [name, parent]));
  return (name: string): string | undefined => parents.get(name);
};

const podsIn = ({ allocated }: Queue): number => valueIn(measureOf(allocated), "pods");

/** Returns why the queue may not be below the parent that it names; empty if it may. */
export const parentSaying = (queue: Queue, all: Queues): string => {
  const wrong = nextSaying(queue, parentIn(all));
  const parent = isTop(queue.parent) ? undefined : named(queue.parent, all);
  if (wrong !== "" || parent === undefined) return wrong;
  const pods = podsIn(parent);
  return childrenOf(parent.name, all).length > 0 || pods === 0
    ? ""
    : `queue ${parent.name} cannot be the parent queue of queue ${queue.name} because it has allocated Pods: ${pods}`;
};

/** Returns the ancestors from the nearest on, without the root. In a cycle each queue occurs once. */
const ancestorsOf = (queue: Queue, all: Queues): Queues => {
  const found: Queue[] = [];
  let at = queue.parent;
  for (;;) {
    const parent = isTop(at) ? undefined : named(at, all);
    if (parent === undefined || found.includes(parent)) return found;
    found.push(parent);
    at = parent.parent;
  }
};

const capabilityIn = (queue: Queue, name: string): number => valueIn(measureOf(queue.capability), name);

const aboveSaying = (queue: Queue, all: Queues): string => {
  const own = measureOf(queue.capability);
  const ancestors = ancestorsOf(queue, all);
  for (const name of namesIn(own)) {
    const bound = ancestors.map((one) => capabilityIn(one, name)).find((value) => value > 0);
    const value = valueIn(own, name);
    if (bound !== undefined && value > bound)
      return `queue ${queue.name} capability[${name}]=${valueText(name, value)} exceeds its ancestor's capability=${valueText(name, bound)}`;
  }
  return "";
};

const shares = ["guarantee", "deserved"] as const;

const added = (sums: readonly Measure[], child: Queue): readonly Measure[] =>
  shares.map((share, at) => sumOf(sums[at] ?? new Map(), measureOf(child[share])));

/** Adds the children one by one and compares each sum with the parent; reports the first sum that exceeds it. */
const sumsSaying = (who: string, parent: Queue, children: Queues): string => {
  let sums: readonly Measure[] = [];
  for (const child of children) {
    sums = added(sums, child);
    for (const [at, share] of shares.entries()) {
      const [sum = new Map(), bound] = [sums[at], measureOf(parent[share])];
      if (lessPartly(bound, sum))
        return `${who} ${parent.name} validation failed: sum of children's ${share} (${measureText(sum)}) exceeds parent's ${share} limit (${measureText(bound)})`;
    }
  }
  return "";
};

/** Returns the largest capability in a subtree; a queue with its own capability hides those below it. */
const largestBelow = (queue: Queue, name: string, all: Queues, seen: readonly Queue[] = []): number => {
  const own = capabilityIn(queue, name);
  if (own > 0 || seen.includes(queue)) return own;
  const below = childrenOf(queue.name, all).map((child) => largestBelow(child, name, all, [...seen, queue]));
  return Math.max(0, ...below);
};

const belowSaying = (queue: Queue, children: Queues, all: Queues): string => {
  const own = measureOf(queue.capability);
  for (const name of namesIn(own)) {
    const value = valueIn(own, name);
    const largest = Math.max(0, ...children.map((child) => largestBelow(child, name, all)));
    if (value < largest)
      return `queue ${queue.name} capability[${name}]=${valueText(name, value)} is smaller than its descendants' max capability=${valueText(name, largest)}`;
  }
  return sumsSaying("queue", queue, children);
};

const besidesSaying = (queue: Queue, all: Queues): string => {
  if (isTop(queue.parent)) return "";
  const parent = named(queue.parent, all);
  if (parent === undefined) return `parent queue ${queue.parent} not found: ${notFound(queue.parent)}`;
  const siblings = childrenOf(parent.name, all).filter(({ name }) => name !== queue.name);
  return aboveSaying(queue, all) || sumsSaying("parent queue", parent, [...siblings, queue]);
};

/** Returns what the queue's amounts break in the tree; empty if nothing. */
export const treeSaying = (queue: Queue, all: Queues): string => {
  const beside = besidesSaying(queue, all);
  const children = childrenOf(queue.name, all);
  if (beside !== "" || children.length === 0) return beside;
  return belowSaying(queue, children, all);
};

const kept = ["default", "root"];

/**
 * Returns why a queue may not be deleted; `all` absent: queues could not be read, and only the name is checked. Its pods
 * do not keep it, as by upstream's default.
 */
export const deletionSaying = (name: string, all: Queues | undefined): string => {
  if (kept.includes(name)) return `\`${name}\` queue can not be deleted`;
  if (all === undefined) return "";
  if (named(name, all) === undefined) return notFound(name);
  const children = childrenOf(name, all).map((child) => child.name);
  return children.length === 0
    ? ""
    : `queue ${name} can not be deleted because it has ${children.length} child queues: ${children.join(", ")}`;
};

/** The fields of a queue that jobs and groups depend on. */
export type QueueView = { readonly name: string; readonly state: string; readonly children: number };

/** The queue that every cluster has: without Volcano's scheduler, the first job's step creates it and waits for it. */
const usual = "default";

/** Returns what is wrong with the queue; `queue` undefined: none has this name. */
export const jobQueueSaying = (name: string, queue: QueueView | undefined): string => {
  if (name === usual && (queue === undefined || queue.state === "")) return "";
  if (queue === undefined) return ` unable to find job queue: queue.scheduling.volcano.sh "${name}" not found;`;
  const closed = ` can only submit job to queue with state \`Open\`, queue \`${name}\` status is \`${queue.state}\`;`;
  const problem = queue.state === "Open" ? "" : closed;
  const place = leafSaying(name, queue.children);
  return place === "" ? problem : `${problem} ${place};`;
};
