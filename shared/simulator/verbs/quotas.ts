/** ResourceQuotas: counted by a controller, charged and kept at creation. */

import { type Kind, kindOfTable } from "../schema/kinds.ts";
import { amount, at, fieldsAt, itemsAt, quantity, textAt, textsAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import { forbidden, type Refusal } from "../storage/refusal.ts";
import type { Change, Store } from "../storage/store.ts";
import { about, type Part, rewrite, runAfter, subject } from "./remove.ts";
import type { Server } from "./request.ts";

/** Amounts by their names in quotas. */
type Usage = Readonly<Record<string, number>>;

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
const usageOf = ({ table, plural, group }: Kind, item: Item): Usage => ({
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
const covers = (quota: Item, { table }: Kind, item: Item): boolean => {
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
const unsized = (hard: readonly string[], pod: Item): readonly string[] => {
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

const table = "resourcequotas";
const delayMs = 100;

const inBytes = (name: string): boolean => /memory|storage/.test(name);

const within = (store: Store, namespace: string | undefined): readonly Item[] =>
  store.list(table).filter(({ metadata }) => metadata.namespace === namespace);

const hardOf = (quota: Item): readonly string[] => Object.keys(fieldsAt(quota, "spec", "hard")).sort();

const usedOf = (quota: Item, name: string): number => amount(textAt(quota, "status", "used", name));

const withUsed = (quota: Item, used: Usage): Item => ({
  ...quota,
  status: {
    hard: fieldsAt(quota, "spec", "hard"),
    used: Object.fromEntries(hardOf(quota).map((name) => [name, quantity(used[name] ?? 0, inBytes(name))])),
  },
});

/** Counts everything that a quota covers. */
const count = ({ store }: Server, quota: Item): Usage => {
  const total: Record<string, number> = {};
  for (const each of store.tables()) {
    const kind = kindOfTable(store, each);
    if (kind?.namespaced !== true) continue;
    for (const item of store.list(each)) {
      if (item.metadata.namespace !== quota.metadata.namespace || !covers(quota, kind, item)) continue;
      for (const [name, value] of Object.entries(usageOf(kind, item))) total[name] = (total[name] ?? 0) + value;
    }
  }
  return total;
};

type Charge = { readonly quota: Item; readonly usage: Usage };

const shown = (names: readonly string[], value: (name: string) => number): string =>
  names.map((name) => `${name}=${quantity(value(name), inBytes(name))}`).join(",");

/** The reason for which a quota refuses an object; undefined: it admits the object. */
const whyNot = ({ quota, usage }: Charge, item: Item): string | undefined => {
  const { name } = quota.metadata;
  const hard = hardOf(quota);
  const lacking = item.kind === "Pod" ? unsized(hard, item) : [];
  if (lacking.length > 0) return `failed quota: ${name}: must specify ${lacking.join("; ")}`;
  const limited = hard.filter((each) => (usage[each] ?? 0) > 0);
  if (limited.length === 0) return undefined;
  if (at(quota, "status", "hard") === undefined)
    return `status unknown for quota: ${name}, resources: ${limited.join(",")}`;
  const limits = textsAt(quota, "spec", "hard");
  const above = limited.filter((each) => usedOf(quota, each) + (usage[each] ?? 0) > amount(limits[each]) + 1e-9);
  if (above.length === 0) return undefined;
  const requested = shown(above, (each) => usage[each] ?? 0);
  const used = shown(above, (each) => usedOf(quota, each));
  return `exceeded quota: ${name}, requested: ${requested}, used: ${used}, limited: ${shown(above, (each) => amount(limits[each]))}`;
};

const chargesFor = ({ store }: Server, kind: Kind, item: Item): readonly Charge[] => {
  if (store.list(table).length === 0 || !kind.namespaced) return [];
  const usage = usageOf(kind, item);
  return within(store, item.metadata.namespace)
    .filter((quota) => covers(quota, kind, item))
    .map((quota) => ({ quota, usage }));
};

/** The refusal of an object that exceeds a quota; undefined: no quota refuses it. */
export const overQuota = (server: Server, kind: Kind, item: Item): Refusal | undefined => {
  for (const charge of chargesFor(server, kind, item)) {
    const why = whyNot(charge, item);
    if (why !== undefined) return forbidden(kind, item.metadata.name, why);
  }
  return undefined;
};

/** Charges the quotas for an object that is about to be stored. */
export const chargeQuotas = (server: Server, kind: Kind, item: Item): void => {
  for (const { quota, usage } of chargesFor(server, kind, item)) {
    const sums = hardOf(quota).map((name): [string, number] => [name, usedOf(quota, name) + (usage[name] ?? 0)]);
    rewrite(server, table, quota, withUsed(quota, Object.fromEntries(sums)));
  }
};

const ended = ({ type, object }: Change): boolean => {
  const phase = textAt(object, "status", "phase");
  return type === "DELETED" || phase === "Succeeded" || phase === "Failed";
};

const hear = (server: Server, change: Change): void => {
  if (change.table === table && change.type !== "DELETED")
    runAfter(server, delayMs, about("quotas.count", change.object));
  else if (server.store.list(table).length > 0 && ended(change))
    for (const quota of within(server.store, change.object.metadata.namespace))
      runAfter(server, delayMs, about("quotas.count", quota));
};

export const quotas = (server: Server): Part => ({
  onChange: (change) => hear(server, change),
  tasks: {
    "quotas.count": (task) => {
      const quota = subject(server, task, table);
      if (quota !== undefined) rewrite(server, table, quota, withUsed(quota, count(server, quota)));
    },
  },
});
