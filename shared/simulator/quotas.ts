/** ResourceQuotas: counted by a controller, charged and kept at creation. */
import { kindOfTable } from "./crds.ts";
import { at, fieldsAt, textAt, textsAt } from "./json.ts";
import type { Kind } from "./kinds.ts";
import type { Item } from "./metadata.ts";
import { about, later, type Part, rewrite, subject } from "./part.ts";
import { amount, quantity } from "./quantity.ts";
import { forbidden, type Refusal } from "./refusal.ts";
import type { Server } from "./server.ts";
import type { Change, Store } from "./store.ts";
import { covers, type Usage, unsized, usageOf } from "./usage.ts";

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
  const asked = hard.filter((each) => (usage[each] ?? 0) > 0);
  if (asked.length === 0) return undefined;
  if (at(quota, "status", "hard") === undefined)
    return `status unknown for quota: ${name}, resources: ${asked.join(",")}`;
  const limits = textsAt(quota, "spec", "hard");
  const above = asked.filter((each) => usedOf(quota, each) + (usage[each] ?? 0) > amount(limits[each]) + 1e-9);
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
export const charge = (server: Server, kind: Kind, item: Item): void => {
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
  if (change.table === table && change.type !== "DELETED") later(server, delayMs, about("quotas.count", change.object));
  else if (server.store.list(table).length > 0 && ended(change))
    for (const quota of within(server.store, change.object.metadata.namespace))
      later(server, delayMs, about("quotas.count", quota));
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
