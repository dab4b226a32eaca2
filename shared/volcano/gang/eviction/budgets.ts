/**
 * The PodDisruptionBudgets of the cluster. Units that a budget does not allow to be evicted are not chosen: an eviction that
 * the API server refuses would leave a group half evicted.
 */
import { fieldsOf, isRecord } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import type { Looking, Projection } from "../../../core/plan.ts";
import { requirementsOf } from "../../../kube/pod-anti-affinity.ts";
import { podDisruptionBudgets } from "../../../kube/resources.ts";
import { meetsExpression } from "../../../kube/selector.ts";
import { only } from "../../../kube/trim.ts";
import type { Unit } from "./victims.ts";

/** The most characters of a selector that is read; a longer one counts as one that selects all pods. */
const mostSelector = 4_096;

/** Keeps the selector of a budget, and how many pods it allows to be evicted. */
const budgetOutline: Projection = ({ apiVersion, kind, metadata, spec, status }) => {
  const { name, namespace = "", uid, resourceVersion } = metadata;
  const { selector } = fieldsOf(spec);
  const isLong = JSON.stringify(selector ?? {}).length > mostSelector;
  return {
    ...{ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } },
    spec: { selector: isLong ? {} : selector },
    status: only(fieldsOf(status), ["disruptionsAllowed"]),
  };
};

export const allBudgets: Looking = {
  ...{ do: "list", resource: podDisruptionBudgets, namespace: "", labels: {}, optional: true },
  projecting: () => budgetOutline,
};

const covers = (budget: Stored, pod: Stored): boolean => {
  const { selector } = fieldsOf(budget.spec);
  return (
    budget.metadata.namespace === pod.metadata.namespace &&
    isRecord(selector) &&
    requirementsOf(selector).every((one) => meetsExpression(one, pod.metadata.labels ?? {}))
  );
};

const allowedBy = ({ status }: Stored): number => {
  const { disruptionsAllowed } = fieldsOf(status);
  return typeof disruptionsAllowed === "number" ? disruptionsAllowed : 0;
};

/** Returns the units that the budgets allow to be evicted together, the first of them first. */
export const allowed = (units: readonly Unit[], budgets: readonly Stored[]): readonly Unit[] => {
  const byNamespace = Map.groupBy(budgets, ({ metadata }) => metadata.namespace ?? "");
  const spent = new Map<string, Set<string>>();
  return units.filter(({ pods, group }) => {
    const own = byNamespace.get(group.metadata.namespace ?? "") ?? [];
    const taken = pods.map((pod) => ({ uid: pod.metadata.uid, budgets: own.filter((one) => covers(one, pod)) }));
    // The Eviction API refuses pods that have more than one budget.
    if (taken.some((pod) => pod.budgets.length > 1)) return false;
    const isAllowed = own.every((budget) => {
      const uids = taken.filter((pod) => pod.budgets.includes(budget)).map(({ uid }) => uid);
      return (
        new Set([...(spent.get(budget.metadata.uid) ?? []), ...uids]).size <= allowedBy(budget) || uids.length === 0
      );
    });
    if (!isAllowed) return false;
    for (const {
      uid,
      budgets: [budget],
    } of taken)
      if (budget !== undefined)
        spent.set(budget.metadata.uid, new Set([...(spent.get(budget.metadata.uid) ?? []), uid]));
    return true;
  });
};
