/**
 * The pods with which a run begins, and what they request. Each part that asks for room before the pods exist counts
 * these: admission for quotas, groups of pods for their queue, and the record for what a run costs. Pure.
 */

import { fieldsOf } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import { type Amounts, add, multiply, requestsOf, usageAtCreation } from "../../kube/pod-usage.ts";
import { type Quantity, quantityText } from "../../kube/quantity.ts";

export type PlannedPods = {
  readonly driver: Obj;
  /** One of the executors; absent where none can be built: the driver's own allocator cannot build one either. */
  readonly executor?: Obj;
  /** The executors at the start: with dynamic allocation the initial ones, which are at least the minimum. */
  readonly executors: number;
};

/** The amounts of one driver and of the executors at the start. */
const summed = ({ driver, executor, executors }: PlannedPods, amountsOf: (pod: Obj) => Amounts): Amounts => {
  const sum = new Map<string, Quantity>();
  add(sum, amountsOf(driver));
  if (executor !== undefined && executors > 0) add(sum, multiply(amountsOf(executor), executors));
  return sum;
};

/** The usage of a run's pods as a quota counts it, by its resource names. */
export const plannedUsage = (pods: PlannedPods): Amounts => summed(pods, ({ spec }) => usageAtCreation(fieldsOf(spec)));

/** The requests of a pod as its scheduler counts them, by resource. */
const requestsOfPod = ({ spec }: Obj): Amounts => {
  const requests = new Map(requestsOf(fieldsOf(spec)));
  requests.delete("pods");
  return requests;
};

type Texts = Readonly<Record<string, string>>;

const inTexts = (amounts: Amounts): Texts =>
  Object.fromEntries([...amounts].map(([name, amount]) => [name, quantityText(amount)]));

/** The requests of a pod, as a group states them. */
export const statedRequests = (pod: Obj): Texts => inTexts(requestsOfPod(pod));

/** The requests of a run's pods together, as a group states them. */
export const statedTotal = (pods: PlannedPods): Texts => inTexts(summed(pods, requestsOfPod));

const milli = 1e6;
const mebi = 2 ** 20 * 1e9;

/** A record holds whole numbers only: an amount beyond them counts as none. */
const whole = (amount: Quantity | undefined, unit: number): number => {
  const count = Math.ceil(Number(amount?.nano ?? 0n) / unit);
  return Number.isSafeInteger(count) ? count : 0;
};

const needsOfPod = (pod: Obj | undefined): [number, number] => {
  const requests: Amounts = pod === undefined ? new Map() : requestsOfPod(pod);
  return [whole(requests.get("cpu"), milli), whole(requests.get("memory"), mebi)];
};

/** The requests of a run's driver and of each executor: thousandths of a core, and MiB; 0 for what no number holds. */
export const needsOf = ({ driver, executor }: PlannedPods): [number, number, number, number] => [
  ...needsOfPod(driver),
  ...needsOfPod(executor),
];
