/** The usage that an object adds to a quota, and the objects that a quota covers. */
import { at, fieldsAt, itemsAt, textAt } from "./json.ts";
import type { Kind } from "./kinds.ts";
import type { Item } from "./metadata.ts";
import { amount } from "./quantity.ts";

/** Amounts by their names in quotas. */
export type Usage = Readonly<Record<string, number>>;

const legacy = new Set([
  "configmaps",
  "persistentvolumeclaims",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "services",
]);

const isOver = (pod: Item): boolean => {
  const phase = textAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed";
};

const names = (containers: readonly unknown[], what: string): readonly string[] => [
  ...new Set(containers.flatMap((each) => Object.keys(fieldsAt(each, "resources", what)))),
];

/** The sum of the containers, or one init container's amount where it is larger. */
const needOf = (pod: Item, what: "requests" | "limits"): Usage => {
  const main = itemsAt(pod, "spec", "containers");
  const early = itemsAt(pod, "spec", "initContainers");
  const of = (each: unknown, name: string): number => amount(at(each, "resources", what, name));
  return Object.fromEntries(
    names([...main, ...early], what).map((name) => [
      name,
      Math.max(
        main.reduce<number>((sum, each) => sum + of(each, name), 0),
        ...early.map((each) => of(each, name)),
      ),
    ]),
  );
};

const prefixed = (prefix: string, usage: Usage): Usage =>
  Object.fromEntries(Object.entries(usage).map(([name, value]) => [`${prefix}.${name}`, value]));

/** Quotas also count requests of these under their short names. */
const short = ["cpu", "memory", "ephemeral-storage"] as const;

const podUsage = (pod: Item): Usage => {
  if (isOver(pod)) return {};
  const requests = needOf(pod, "requests");
  const shorts = short.filter((name) => name in requests).map((name) => [name, requests[name] ?? 0]);
  return {
    pods: 1,
    ...Object.fromEntries(shorts),
    ...prefixed("requests", requests),
    ...prefixed("limits", needOf(pod, "limits")),
  };
};

const serviceUsage = (service: Item): Usage => {
  const type = textAt(service, "spec", "type");
  const ports = itemsAt(service, "spec", "ports").length;
  return {
    "services.nodeports": type === "NodePort" || type === "LoadBalancer" ? ports : 0,
    "services.loadbalancers": type === "LoadBalancer" ? 1 : 0,
  };
};

const special: Readonly<Record<string, (item: Item) => Usage>> = {
  pods: podUsage,
  services: serviceUsage,
  persistentvolumeclaims: (item) => ({
    "requests.storage": amount(at(item, "spec", "resources", "requests", "storage")),
  }),
};

/** The usage of an object. */
export const usageOf = ({ table, plural, group }: Kind, item: Item): Usage => ({
  [`count/${table}`]: 1,
  ...(group === "" && legacy.has(plural) && { [plural]: 1 }),
  ...special[table]?.(item),
});

type Scope = (pod: Item) => boolean;

const scopes: Readonly<Record<string, Scope>> = {
  BestEffort: (pod) => textAt(pod, "status", "qosClass") === "BestEffort",
  NotBestEffort: (pod) => textAt(pod, "status", "qosClass") !== "BestEffort",
  Terminating: (pod) => at(pod, "spec", "activeDeadlineSeconds") !== undefined,
  NotTerminating: (pod) => at(pod, "spec", "activeDeadlineSeconds") === undefined,
};

const selects = (expression: unknown, pod: Item): boolean => {
  const name = textAt(expression, "scopeName") ?? "";
  if (name !== "PriorityClass") return scopes[name]?.(pod) ?? false;
  const priority = textAt(pod, "spec", "priorityClassName") ?? "";
  const listed = itemsAt(expression, "values").includes(priority);
  const operator = textAt(expression, "operator");
  if (operator === "Exists") return priority !== "";
  return operator === "DoesNotExist" ? priority === "" : (operator === "In") === listed;
};

/** Whether a quota covers an object: one with scopes covers pods only. */
export const covers = (quota: Item, { table }: Kind, item: Item): boolean => {
  const own = itemsAt(quota, "spec", "scopes");
  const chosen = itemsAt(quota, "spec", "scopeSelector", "matchExpressions");
  if (own.length === 0 && chosen.length === 0) return true;
  return (
    table === "pods" &&
    own.every((name) => scopes[String(name)]?.(item) ?? false) &&
    chosen.every((each) => selects(each, item))
  );
};

const sized = /^(cpu|memory|(requests|limits)\..+)$/;

/** Sizes that a quota counts and a container omits, as `resource for: container`. */
export const unsized = (hard: readonly string[], pod: Item): readonly string[] => {
  const containers = [...itemsAt(pod, "spec", "containers"), ...itemsAt(pod, "spec", "initContainers")];
  return hard
    .filter((name) => sized.test(name) && name !== "requests.storage")
    .flatMap((name) => {
      const [what, resource] = name.includes(".") ? name.split(/\.(.*)/) : ["requests", name];
      const without = containers
        .filter((each) => at(each, "resources", what ?? "", resource ?? "") === undefined)
        .map((each) => textAt(each, "name") ?? "");
      return without.length === 0 ? [] : [`${name} for: ${without.sort().join(",")}`];
    });
};
