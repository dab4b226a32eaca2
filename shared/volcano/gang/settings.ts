/**
 * Settings of a deployment for its queues: the component that admits groups, and the namespaces from which commands
 * for queues are accepted. A queue has no namespace, and a Command may be created in any.
 */
import type { Order } from "../command/order.ts";

/**
 * `auto` looks for signs of Volcano's scheduler; `scheduler` and `none` state that there is one, or none; with `builtin`
 * there is none, and a group is admitted only when its whole minimum fits the nodes; with `native` there is none, and
 * kube-scheduler places groups whole by PodGroups of Kubernetes, where it can.
 */
export const gangModes = ["auto", "scheduler", "none", "builtin", "native"] as const;

export type GangMode = (typeof gangModes)[number];

/**
 * With `builtin`: `preempt` evicts pods for groups of a higher priority in the same queue, `reclaim` for groups of queues
 * that have less than they deserve.
 */
export const gangEvictions = ["none", "preempt", "reclaim", "all"] as const;

export type GangEviction = (typeof gangEvictions)[number];

/** True if groups enter by plans: all of them, or those that PodGroups of Kubernetes cannot place. */
export const isPlanning = (mode: GangMode | undefined): boolean => mode === "builtin" || mode === "native";

/** The name of the setting. */
export const settingName = "queueCommandNamespaces";

/** Means all namespaces, as upstream accepts them. */
export const everyNamespace = "*";

/** The namespace in which `vcctl queue operate` creates its commands, whatever its kubeconfig says. */
export const vcctlNamespace = "default";

const namespaceOf = ({ object }: Order): string => object.metadata.namespace ?? "";

export const isObeyed = (order: Order, allowed: readonly string[]): boolean =>
  allowed.includes(everyNamespace) || allowed.includes(namespaceOf(order));

/** Sorts commands of other namespaces behind those that are accepted. */
export const obeyedFirst = (orders: readonly Order[], allowed: readonly string[]): readonly Order[] => [
  ...orders.filter((order) => isObeyed(order, allowed)),
  ...orders.filter((order) => !isObeyed(order, allowed)),
];

/** Returns why a command is refused, and what to change. */
export const refusalOf = (order: Order, allowed: readonly string[]): string => {
  const { name } = order.object.metadata;
  const places = allowed.length === 0 ? "no namespace" : allowed.join(", ");
  return `command ${namespaceOf(order)}/${name} (${order.action}) is refused: commands for queues are obeyed from ${places} only. Make it there, or add its namespace to ${settingName}`;
};
