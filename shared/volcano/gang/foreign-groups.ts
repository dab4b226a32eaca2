/**
 * Groups of others: they belong to no Job and state no members, so another controller makes their pods. Where Volcano's
 * scheduler is missing, nobody binds pods that name it. Such a group is not admitted, so that it holds nothing of its queue, and
 * the group and its pods are told.
 */
import { all, list, type Reads } from "../../core/decision.ts";
import { fieldsOf, recordsIn } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect, Looking, Projection } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { membersKey } from "../../kube/gang-members.ts";
import { isWaiting } from "../../kube/gang-plan.ts";
import { pods } from "../../kube/resources.ts";
import { only } from "../../kube/trim.ts";
import { volcanoScheduler } from "../pods/names.ts";
import { keys } from "../schema/resource.ts";
import { otherConditions } from "./admission-writes.ts";
import { byGroup, keyOf } from "./group-pods.ts";
import { jobOwnerOf, metadataOf } from "./outlines.ts";

/** A group that is not admitted, the reason, and its pods that name the missing scheduler and are to be told. */
export type ForeignGroup = { readonly group: Stored; readonly why: string; readonly pods: readonly Stored[] };

const isForeign = (group: Stored): boolean =>
  isWaiting(group) && jobOwnerOf(group) === undefined && group.metadata.annotations?.[membersKey] === undefined;

/** The most namespaces of which pods are read in one round, and the most pods of a group that one round tells. */
const mostNamespaces = 20;
const mostTold = 100;

const outline: Projection = (pod) =>
  pod.metadata.annotations?.[keys.group] === undefined
    ? undefined
    : {
        ...{ apiVersion: pod.apiVersion, kind: pod.kind, metadata: metadataOf(pod, [keys.group]) },
        spec: only(fieldsOf(pod.spec), ["schedulerName", "nodeName"]),
      };

const podsIn = (namespace: string): Looking => ({
  ...{ do: "list", resource: pods, namespace, labels: {} },
  projecting: () => outline,
});

const missing = `its pods name the scheduler ${volcanoScheduler}, which does not run here, so nothing binds them: write default-scheduler as their schedulerName, or install Volcano's scheduler`;

const podless = `it has no pods yet: a group that belongs to no Job is admitted once its pods exist and name another scheduler than ${volcanoScheduler}, which does not run here`;

const later = "the groups of other namespaces are looked at first";

const waitsForScheduler = ({ spec }: Stored): boolean => {
  const { schedulerName, nodeName } = fieldsOf(spec);
  return schedulerName === volcanoScheduler && nodeName === undefined;
};

/** When the group's status began to give this reason, epoch ms; undefined where it does not give it. */
const toldAt = ({ status }: Stored, why: string): number | undefined => {
  const told = recordsIn(fieldsOf(status)["conditions"]).find(({ message }) => message === why);
  const at = told?.["lastTransitionTime"];
  return told === undefined ? undefined : (instantOf(typeof at === "string" ? at : undefined) ?? 0);
};

/** Timestamps of the API are whole seconds: a pod of the second of a condition may be younger than the condition. */
const secondMs = 1_000;

/** Returns the pods that are younger than the group's condition; all while the group does not give the reason. */
const untold = (group: Stored, why: string, unbound: readonly Stored[], now: number): readonly Stored[] => {
  const at = toldAt(group, why);
  if (at === undefined) return unbound.slice(0, mostTold);
  if (now < at + secondMs) return [];
  return unbound.filter(({ metadata }) => (instantOf(metadata.creationTimestamp) ?? 0) >= at).slice(0, mostTold);
};

/** Finds the waiting groups of others that must not be admitted where Volcano's scheduler is missing. */
export function* readForeignGroups(groups: readonly Stored[], now: number): Reads<readonly ForeignGroup[]> {
  const foreign = groups.filter(isForeign);
  const namespaces = [...new Set(foreign.map(({ metadata }) => metadata.namespace ?? ""))].slice(0, mostNamespaces);
  const own = byGroup((yield* all(namespaces.map(podsIn).map(list))).flat());
  return foreign.flatMap((group): readonly ForeignGroup[] => {
    if (!namespaces.includes(group.metadata.namespace ?? "")) return [{ group, why: later, pods: [] }];
    const its = own.get(keyOf(group)) ?? [];
    const unbound = its.filter(waitsForScheduler);
    if (unbound.length > 0) return [{ group, why: missing, pods: untold(group, missing, unbound, now) }];
    return its.length === 0 ? [{ group, why: podless, pods: [] }] : [];
  });
}

/** Takes the condition off the groups of pods that are told, so that the round writes it with a later time. */
export const toBeRetold = (groups: readonly Stored[], foreign: readonly ForeignGroup[]): readonly Stored[] => {
  const told = new Set(foreign.filter(({ pods: its }) => its.length > 0).map(({ group }) => group.metadata.uid));
  return groups.map((group) =>
    told.has(group.metadata.uid)
      ? { ...group, status: { ...fieldsOf(group.status), conditions: otherConditions(group) } }
      : group,
  );
};

/** Returns the Events for pods that wait for the missing scheduler. */
export const foreignEvents = (foreign: readonly ForeignGroup[]): readonly Effect[] =>
  foreign.flatMap(({ group, pods: its, why }) =>
    its.map(
      (pod): Effect => ({
        ...{ do: "record", about: pod, resource: pods, occasion: `no scheduler ${pod.metadata.uid}` },
        ...{ type: "Warning", reason: "FailedScheduling" },
        message: `PodGroup ${group.metadata.name} is not admitted: ${why}`,
      }),
    ),
  );
