/** The scheduler: binds a pod to a node that fits it, or reports the reasons why none does. */
import { stamp, type Task } from "../storage/clock.ts";
import { amount, at, type Fields, fieldsAt, isFields, itemsAt, numberAt, textAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import type { Change } from "../storage/store.ts";
import { about, type Part, rewrite, runAfter, subject } from "../verbs/remove.ts";
import type { Server } from "../verbs/request.ts";
import { type Gang, gangOf, gangTable, readyGang, tellGang } from "./gangs.ts";

const bindMs = 10;

/** Amounts by resource; `pods` is the number of pods. */
type Need = Readonly<Record<string, number>>;

const joined = (a: Need, b: Need, join: (x: number, y: number) => number): Need =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].map((name) => [name, join(a[name] ?? 0, b[name] ?? 0)]),
  );

const plus = (a: Need, b: Need): Need => joined(a, b, (x, y) => x + y);

const amountsOf = (fields: Fields): Need =>
  Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, amount(text)]));

/** A limit without a request is the request. */
const requestsOf = (holder: unknown): Need =>
  amountsOf({ ...fieldsAt(holder, "resources", "limits"), ...fieldsAt(holder, "resources", "requests") });

/** Each node has one of a port. */
const ports = "host port ";

/** The host ports of the containers and sidecars; on the host's network, all of their ports. */
const portsOf = (pod: Item): Need => {
  const sidecars = itemsAt(pod, "spec", "initContainers").filter((one) => textAt(one, "restartPolicy") === "Always");
  const all = [...itemsAt(pod, "spec", "containers"), ...sidecars].flatMap((one) => itemsAt(one, "ports"));
  const isOnHost = at(pod, "spec", "hostNetwork") === true;
  return Object.fromEntries(
    all.flatMap((one) => {
      const port = numberAt(one, "hostPort") ?? (isOnHost ? numberAt(one, "containerPort") : undefined) ?? 0;
      return port > 0 ? [[`${ports}${textAt(one, "protocol") ?? "TCP"}/${port}`, 1] as const] : [];
    }),
  );
};

/**
 * As kube-scheduler: the containers with the sidecars, or the peak of the init containers if that is more; amounts of the
 * pod as a whole win; then the overhead.
 */
const needOf = (pod: Item): Need => {
  let sidecars: Need = {};
  let peak: Need = {};
  for (const init of itemsAt(pod, "spec", "initContainers")) {
    const beside = plus(sidecars, requestsOf(init));
    if (textAt(init, "restartPolicy") === "Always") sidecars = beside;
    peak = joined(peak, beside, Math.max);
  }
  const running = itemsAt(pod, "spec", "containers").map(requestsOf).reduce(plus, sidecars);
  const whole = { ...joined(running, peak, Math.max), ...requestsOf(at(pod, "spec")) };
  return { ...plus(plus(whole, amountsOf(fieldsAt(pod, "spec", "overhead"))), { pods: 1 }), ...portsOf(pod) };
};

const isOver = (pod: Item): boolean => {
  const phase = textAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed";
};

type Tests = Readonly<Record<string, (value: string | undefined, values: readonly unknown[]) => boolean>>;
const expressions: Tests = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
};

const holds = (each: unknown, labels: Readonly<Record<string, string>>): boolean =>
  expressions[textAt(each, "operator") ?? ""]?.(labels[textAt(each, "key") ?? ""], itemsAt(each, "values")) ?? false;

/** A term without a requirement holds for no node. */
const termHolds = ({ metadata: { name, labels = {} } }: Item, term: unknown): boolean => {
  const [byLabel, byField] = [itemsAt(term, "matchExpressions"), itemsAt(term, "matchFields")];
  return (
    byLabel.length + byField.length > 0 &&
    byLabel.every((each) => holds(each, labels)) &&
    byField.every((each) => holds(each, { "metadata.name": name }))
  );
};

const required = "requiredDuringSchedulingIgnoredDuringExecution";

const affine = (node: Item, spec: Fields): boolean => {
  const terms = at(spec, "affinity", "nodeAffinity", required);
  if (!isFields(terms)) return true;
  return itemsAt(terms, "nodeSelectorTerms").some((term) => termHolds(node, term));
};

const selected = (node: Item, spec: Fields): boolean =>
  Object.entries(fieldsAt(spec, "nodeSelector")).every(([key, value]) => node.metadata.labels?.[key] === value);

const tolerates = (spec: Fields, taint: unknown): boolean =>
  itemsAt(spec, "tolerations").some((each) => {
    const key = textAt(each, "key") ?? "";
    const effect = textAt(each, "effect") ?? "";
    const valueFits =
      textAt(each, "operator") === "Exists" || (textAt(each, "value") ?? "") === (textAt(taint, "value") ?? "");
    return (
      (key === "" || key === textAt(taint, "key")) && (effect === "" || effect === textAt(taint, "effect")) && valueFits
    );
  });

const untainted = (node: Item, spec: Fields): boolean =>
  itemsAt(node, "spec", "taints").every(
    (taint) => textAt(taint, "effect") === "PreferNoSchedule" || tolerates(spec, taint),
  );

const selects = (term: unknown, { metadata: { labels = {}, namespace } }: Item, own: string | undefined): boolean => {
  const selector = at(term, "labelSelector");
  const named = itemsAt(term, "namespaces");
  if (!isFields(selector) || !(named.length === 0 ? [own] : named).includes(namespace)) return false;
  return (
    Object.entries(fieldsAt(selector, "matchLabels")).every(([key, value]) => labels[key] === value) &&
    itemsAt(selector, "matchExpressions").every((each) => holds(each, labels))
  );
};

const antiAffinityOf = (pod: Item): readonly unknown[] => itemsAt(pod, "spec", "affinity", "podAntiAffinity", required);

/** A pod and its node, or the node where it would be. */
type Placed = { readonly pod: Item; readonly node: Item };

/** True if a required term of the one pod's anti-affinity selects the other, and their nodes are in one domain of it. */
const rejects = (one: Placed, other: Placed): boolean =>
  antiAffinityOf(one.pod).some((term) => {
    const key = textAt(term, "topologyKey") ?? "";
    const domain = one.node.metadata.labels?.[key];
    const isShared = domain !== undefined && domain === other.node.metadata.labels?.[key];
    return isShared && selects(term, other.pod, one.pod.metadata.namespace);
  });

/** The pods with a place whose anti-affinity, or that of the pod to place, may keep it off a node. */
const neighboursOf = ({ store }: Server, placing: Item): readonly Placed[] => {
  const hasTerms = antiAffinityOf(placing).length > 0;
  return store.list("pods").flatMap((pod) => {
    if (!hasTerms && antiAffinityOf(pod).length === 0) return [];
    const node = store.get("nodes", placeOf(pod));
    return node === undefined || isOver(pod) || pod.metadata.uid === placing.metadata.uid ? [] : [{ pod, node }];
  });
};

/** The reason why anti-affinity excludes a node. */
const apartFrom = (neighbours: readonly Placed[], placing: Placed): string | undefined => {
  if (neighbours.some((other) => rejects(placing, other))) return "node(s) didn't match pod anti-affinity rules";
  return neighbours.some((other) => rejects(other, placing))
    ? "node(s) didn't satisfy existing pods anti-affinity rules"
    : undefined;
};

const needs = new WeakMap<Item, Need>();

const knownNeed = (pod: Item): Need => {
  const need = needs.get(pod) ?? needOf(pod);
  needs.set(pod, need);
  return need;
};

type Judged = { readonly node: Item; readonly free: Need; readonly why: string | undefined };

type Used = ReadonlyMap<string, Need>;

const priorityOf = (pod: Item): number => numberAt(pod, "spec", "priority") ?? 0;

/** The node that a pod has, or that it is nominated for. */
const placeOf = (pod: Item): string => {
  const bound = textAt(pod, "spec", "nodeName") ?? "";
  return bound === "" ? (textAt(pod, "status", "nominatedNodeName") ?? "") : bound;
};

/** The requests of the pods on each node, and of pods nominated for it of at least the priority of the pod to place. */
const usedOn = ({ store }: Server, placing: Item): Used => {
  const used = new Map<string, Need>();
  for (const pod of store.list("pods")) {
    const node = placeOf(pod);
    if (node === "" || isOver(pod) || pod.metadata.uid === placing.metadata.uid) continue;
    const isBound = (textAt(pod, "spec", "nodeName") ?? "") !== "";
    if (isBound || priorityOf(pod) >= priorityOf(placing)) used.set(node, plus(used.get(node) ?? {}, knownNeed(pod)));
  }
  return used;
};

/** The most pods of a node that says nothing of it, as a kubelet's default. */
const mostPods = 110;

const judged = (used: Used, neighbours: readonly Placed[], { node, pod }: Placed): Judged => {
  const spec = fieldsAt(pod, "spec");
  const allocatable = { pods: mostPods, ...amountsOf(fieldsAt(node, "status", "allocatable")) };
  const free = joined(allocatable, used.get(node.metadata.name) ?? {}, (all, taken) => all - taken);
  const need = Object.entries(needOf(pod));
  const isPortTaken = need.some(([name]) => name.startsWith(ports) && (free[name] ?? 0) < 0);
  const short = need.find(([name, many]) => !name.startsWith(ports) && many > 0 && many > (free[name] ?? 0))?.[0];
  const why = ((): string | undefined => {
    if (at(node, "spec", "unschedulable") === true) return "node(s) were unschedulable";
    if (!untainted(node, spec)) return "node(s) had untolerated taint(s)";
    if (!(selected(node, spec) && affine(node, spec))) return "node(s) didn't match Pod's node affinity/selector";
    if (isPortTaken) return "node(s) didn't have free ports for the requested pod ports";
    if (short === "pods") return "Too many pods";
    return short === undefined ? apartFrom(neighbours, { node, pod }) : `Insufficient ${short}`;
  })();
  return { node, free, why };
};

const withCondition = (pod: Item, condition: Fields): Item => {
  const others = itemsAt(pod, "status", "conditions").filter((each) => textAt(each, "type") !== "PodScheduled");
  return { ...pod, status: { ...fieldsAt(pod, "status"), conditions: [...others, condition] } };
};

const scheduled = (status: string, time: string, more: Fields = {}): Fields => ({
  type: "PodScheduled",
  status,
  lastProbeTime: null,
  lastTransitionTime: time,
  ...more,
});

/** Binds a pod to a node. */
export const bind = (server: Server, pod: Item, nodeName: string): void => {
  const bound = { ...pod, spec: { ...fieldsAt(pod, "spec"), nodeName } };
  server.store.put("pods", withCondition(bound, scheduled("True", stamp(server.clock.now()))));
};

const refuse = (server: Server, pod: Item, all: readonly Judged[]): void => {
  const counts = new Map<string, number>();
  for (const { why = "" } of all) counts.set(why, (counts.get(why) ?? 0) + 1);
  const reasons = [...counts].map(([why, n]) => `${n} ${why}`).join(", ");
  const message = `0/${all.length} nodes are available: ${reasons === "" ? "no nodes" : reasons}.`;
  const old = itemsAt(pod, "status", "conditions").find((each) => textAt(each, "type") === "PodScheduled");
  if (textAt(old, "message") === message) return;
  const more = { reason: "Unschedulable", message };
  rewrite(server, "pods", pod, withCondition(pod, scheduled("False", stamp(server.clock.now()), more)));
};

const isWaiting = (schedulers: readonly string[], pod: Item): boolean =>
  (textAt(pod, "spec", "nodeName") ?? "") === "" &&
  pod.metadata.deletionTimestamp === undefined &&
  itemsAt(pod, "spec", "schedulingGates").length === 0 &&
  schedulers.includes(textAt(pod, "spec", "schedulerName") ?? "default-scheduler");

type Choice = { readonly pod: Item; readonly all: readonly Judged[]; readonly best: Item | undefined };

/** Chooses the node of a pod; `before`: pods of its gang with the nodes that were chosen for them. */
const choice = (server: Server, pod: Item, before: readonly Placed[] = []): Choice => {
  const used = new Map(usedOn(server, pod));
  for (const { pod: other, node } of before)
    used.set(node.metadata.name, plus(used.get(node.metadata.name) ?? {}, knownNeed(other)));
  const neighbours = [...neighboursOf(server, pod), ...before];
  const all = server.store.list("nodes").map((node) => judged(used, neighbours, { node, pod }));
  const [best] = all
    .filter(({ why }) => why === undefined)
    .toSorted((a, b) => (b.free["memory"] ?? 0) - (a.free["memory"] ?? 0));
  return { pod, all, best: best?.node };
};

/** Binds the pods of a gang that have a node, if these are enough. */
const placeGang = (server: Server, gang: Gang): void => {
  const placed: Placed[] = [];
  const choices = gang.unbound.map((pod) => {
    const chosen = choice(server, pod, placed);
    if (chosen.best !== undefined) placed.push({ pod, node: chosen.best });
    return chosen;
  });
  const isEnough = placed.length >= gang.lacks;
  for (const { pod, all, best } of choices) {
    if (best !== undefined && isEnough) bind(server, pod, best.metadata.name);
    else refuse(server, pod, all);
  }
  tellGang(server, gang, isEnough);
};

const place = (server: Server, schedulers: readonly string[], task: Task): void => {
  const pod = subject(server, task);
  if (pod === undefined || !isWaiting(schedulers, pod)) return;
  const name = gangOf(server, pod);
  if (name !== undefined) {
    const gang = readyGang(server, pod, name);
    if (gang !== undefined) placeGang(server, gang);
    return;
  }
  const { all, best } = choice(server, pod);
  if (best === undefined) refuse(server, pod, all);
  else bind(server, pod, best.metadata.name);
};

const freesRoom = ({ type, table, object }: Change): boolean =>
  table === "nodes" || (table === "pods" && (type === "DELETED" || isOver(object)));

const changesGang = ({ type, table }: Change): boolean => table === gangTable && type !== "DELETED";

export const scheduler = (server: Server, schedulers: readonly string[]): Part => {
  const queue = (pod: Item): void => {
    if (isWaiting(schedulers, pod)) runAfter(server, bindMs, about("scheduler.place", pod));
  };
  return {
    onChange: (change) => {
      const { type, table, object, before } = change;
      const gatesOpened = before !== undefined && itemsAt(before, "spec", "schedulingGates").length > 0;
      if (table === "pods" && (type === "ADDED" || (type === "MODIFIED" && gatesOpened))) queue(object);
      if (freesRoom(change) || changesGang(change)) for (const pod of server.store.list("pods")) queue(pod);
    },
    tasks: { "scheduler.place": (task) => place(server, schedulers, task) },
  };
};
