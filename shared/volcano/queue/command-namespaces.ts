/** Namespaces from which commands for queues are obeyed: a queue stands in no namespace, and a Command for it may be made in any. */
import type { Order } from "../command/order.ts";

/** The setting that names them. */
export const settingName = "queueCommandNamespaces";

/** Stands for all namespaces, as upstream obeys them. */
export const everyNamespace = "*";

/** Where `vcctl queue operate` makes its commands, whatever its kubeconfig says. */
export const vcctlNamespace = "default";

const namespaceOf = ({ object }: Order): string => object.metadata.namespace ?? "";

export const isObeyed = (order: Order, allowed: readonly string[]): boolean =>
  allowed.includes(everyNamespace) || allowed.includes(namespaceOf(order));

/** Commands of other namespaces never stand in front of those that are obeyed. */
export const obeyedFirst = (orders: readonly Order[], allowed: readonly string[]): readonly Order[] => [
  ...orders.filter((order) => isObeyed(order, allowed)),
  ...orders.filter((order) => !isObeyed(order, allowed)),
];

/** Why a command is not obeyed, and what to change. */
export const refusalOf = (order: Order, allowed: readonly string[]): string => {
  const { name } = order.object.metadata;
  const places = allowed.length === 0 ? "no namespace" : allowed.join(", ");
  return `command ${namespaceOf(order)}/${name} (${order.action}) is refused: commands for queues are obeyed from ${places} only. Make it there, or add its namespace to ${settingName}`;
};
