/**
 * Pods of a PodGroup of Kubernetes: at least `minCount` of them are bound together, or none. As kube-scheduler 1.37: finished
 * pods do not count, a gated pod keeps back all, and a group of which too few pods exist has no condition. A cluster
 * places gangs if it serves them, which the object of their API tells.
 */
import { stamp } from "../storage/clock.ts";
import { type Fields, fieldsAt, itemsAt, numberAt, textAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import { rewrite } from "../verbs/remove.ts";
import type { Server } from "../verbs/request.ts";

/** The table of PodGroups of Kubernetes. */
export const gangTable = "podgroups.scheduling.k8s.io";

const isServed = ({ store }: Server): boolean =>
  store.get("apiservices.apiregistration.k8s.io", "v1beta1.scheduling.k8s.io") !== undefined;

/** Returns the name of the PodGroup that a pod names, where the cluster places gangs. */
export const gangOf = (server: Server, pod: Item): string | undefined => {
  const name = textAt(pod, "spec", "schedulingGroup", "podGroupName");
  return name !== undefined && isServed(server) ? name : undefined;
};

const isOver = (pod: Item): boolean => ["Succeeded", "Failed"].includes(textAt(pod, "status", "phase") ?? "");

const isBound = (pod: Item): boolean => (textAt(pod, "spec", "nodeName") ?? "") !== "";

export type Gang = {
  readonly group: Item;
  /** How many more pods must be bound, at least. */
  readonly lacks: number;
  /** In the order of their creation. */
  readonly unbound: readonly Item[];
};

const createdFirst = (one: Item, other: Item): number => {
  const [a, b] = [one, other].map(({ metadata }) => String(metadata.creationTimestamp));
  return a === b ? (one.metadata.uid < other.metadata.uid ? -1 : 1) : (a ?? "") < (b ?? "") ? -1 : 1;
};

/** Returns the gang of a pod once it may be placed. */
export const readyGang = ({ store }: Server, pod: Item, name: string): Gang | undefined => {
  const { namespace = "" } = pod.metadata;
  const group = store
    .list(gangTable)
    .find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (group === undefined) return undefined;
  const members = store
    .list("pods")
    .filter((one) => one.metadata.namespace === namespace && !isOver(one))
    .filter((one) => textAt(one, "spec", "schedulingGroup", "podGroupName") === name);
  const unbound = members.filter((one) => !isBound(one) && one.metadata.deletionTimestamp === undefined);
  const bound = members.filter(isBound).length;
  const least = numberAt(group, "spec", "schedulingPolicy", "gang", "minCount") ?? 1;
  const isGated = unbound.some((one) => itemsAt(one, "spec", "schedulingGates").length > 0);
  if (isGated || bound + unbound.length < least) return undefined;
  return { group, lacks: Math.max(0, least - bound), unbound: unbound.toSorted(createdFirst) };
};

/** Writes whether the group has been placed; that it has stays for ever. */
export const tellGang = (server: Server, { group }: Gang, isPlaced: boolean): void => {
  const type = "PodGroupInitiallyScheduled";
  const old = itemsAt(group, "status", "conditions").find((one) => textAt(one, "type") === type);
  const status = isPlaced ? "True" : "False";
  if (textAt(old, "status") === "True" || textAt(old, "status") === status) return;
  const reason = isPlaced ? "Scheduled" : "Unschedulable";
  const condition: Fields = { type, status, reason, message: "", lastTransitionTime: stamp(server.clock.now()) };
  rewrite(server, gangTable, group, { ...group, status: { ...fieldsAt(group, "status"), conditions: [condition] } });
};
