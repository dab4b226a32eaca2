/** PodDisruptionBudgets as evictions meet them: counted at each eviction, not kept in their status. */
import { at, fieldsAt, itemsAt, textAt } from "./json.ts";
import { phaseOf } from "./lifecycle.ts";
import type { Item } from "./metadata.ts";
import { internal, Refusal } from "./refusal.ts";
import type { Server } from "./server.ts";
import { selects } from "./webhooks.ts";

const table = "poddisruptionbudgets.policy";

const isReady = (pod: Item): boolean =>
  pod.metadata.deletionTimestamp === undefined &&
  itemsAt(pod, "status", "conditions").some(
    (each) => textAt(each, "type") === "Ready" && textAt(each, "status") === "True",
  );

/** A count, or a share of all, rounded up. */
const amount = (value: unknown, all: number): number | undefined => {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(typeof value === "string" ? value : "")?.[1];
  return percent === undefined ? undefined : Math.ceil((Number(percent) * all) / 100);
};

/** The number of pods that must stay healthy, out of `all`. */
const needed = (budget: Item, all: number): number => {
  const least = amount(at(budget, "spec", "minAvailable"), all);
  return least ?? Math.max(0, all - (amount(at(budget, "spec", "maxUnavailable"), all) ?? 0));
};

const covers = (budget: Item, pod: Item): boolean =>
  budget.metadata.namespace === pod.metadata.namespace &&
  selects(fieldsAt(budget, "spec", "selector"), pod.metadata.labels ?? {});

/** Pods that have not started, have ended or are being deleted do not count as lost. */
const counts = (pod: Item): boolean => phaseOf(pod) === "Running" && pod.metadata.deletionTimestamp === undefined;

/** Throws when an eviction of this pod would go against its budget. */
export const guardBudget = ({ store }: Server, pod: Item): void => {
  if (!counts(pod)) return;
  const [budget, ...others] = store.list(table).filter((each) => covers(each, pod));
  if (budget === undefined) return;
  if (others.length > 0)
    throw internal("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
  const covered = store
    .list("pods")
    .filter((each) => covers(budget, each) && phaseOf(each) !== "Succeeded" && phaseOf(each) !== "Failed");
  const healthy = covered.filter(isReady).length;
  const least = needed(budget, covered.length);
  // The eviction of an unhealthy pod does not reduce the healthy ones, so it passes while they are enough.
  if (isReady(pod) ? healthy > least : healthy >= least && least > 0) return;
  const message = `The disruption budget ${budget.metadata.name} needs ${least} healthy pods and has ${healthy} currently`;
  throw new Refusal(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: "DisruptionBudget", message }],
  });
};
