/**
 * The invariants of an application that grows by Workloads of Kueue, judged from objects alone; and the stand-in for
 * Kueue: a ClusterQueue whose quota is a number of executors. It makes the own Workload of an application with its label, admits what fits,
 * and evicts for a higher priority. As Kueue, it leaves it to the owner to give an evicted Workload's quota back.
 *
 * G1. An executor is created only within the quota in use; and within what is granted, unless its creation was under
 *     way when a growth was evicted or deleted.
 * G2. Quota is given back only when the living executors fit into what is left.
 * G3. Two growths wait together no longer than a step that was under way lasts.
 * G4. While the demand stands, no growth waits or holds quota beyond it; and none is left at the end.
 * G5. Steps never write a Workload that Kueue's integration has made.
 * G6. Where all executors are needed, none is ended unless more stay than are granted; and these do not stay.
 * G7. On the nodes of a flavor an executor is created only within the quota of this flavor that is in use.
 * G8. No growth has the application as an owner: a step of Kueue's integration panics at such a Workload, which it takes
 *     for its own, if it has no controller, and deletes it otherwise.
 * G9. The Workload of a base that Rekindle queues has the priority of the class that the application's label names; while it
 *     waits, another class soon takes the place of the first. A growth is created with the priority of the base.
 */
import { kindOfTable } from "../../../shared/simulator/schema/kinds.ts";
import { type Item, ownersOf } from "../../../shared/simulator/storage/metadata.ts";
import { type Change, keyOf } from "../../../shared/simulator/storage/store.ts";
import { create } from "../../../shared/simulator/verbs/create.ts";
import { about, type Part, rewrite, runAfter, subject } from "../../../shared/simulator/verbs/remove.ts";
import type { Server } from "../../../shared/simulator/verbs/request.ts";
import {
  admissions,
  executorsAsked,
  flavorIn,
  grantedBy,
  isQueued,
  ownWorkload,
  preemptions,
  quotasOf,
  usedBy,
} from "../../support/kueue-queue.ts";
import type { Demand } from "./demand-invariants.ts";
import { numberAt, startOf, textAt } from "./fields.ts";
import { forked } from "./forked.ts";
import { isOver } from "./objects.ts";
import type { Actor, Oracle } from "./oracle.ts";
import { appName, type Scenario } from "./scenario.ts";

const workloads = "workloads.kueue.x-k8s.io";
const queues = "clusterqueues.kueue.x-k8s.io";
const applications = "sparkapplications.sparkoperator.k8s.io";

const isGrowth = ({ metadata }: Item): boolean => metadata.name.startsWith(`${appName}-grow-`);

/** How names of Workloads begin that Kueue's integration makes. */
const ofKueue = "sparkapplication-";

const belongsToApplication = (one: Item): boolean =>
  isGrowth(one) && ownersOf(one).some(({ kind }) => kind === "SparkApplication");

/** The executors of the base, which Kueue admits with the application. */
export const baseExecutors = 1;

/** Flavors that have nodes of their own: the node of each. */
export const flavorNodes = { spot: "node-1", reserved: "node-2" } as const;

const flavorOfNode: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(flavorNodes).map(([flavor, node]) => [node, flavor]),
);

const admitMs = 100;

/** Decides once about all Workloads. */
const cycle = (server: Server, queue: Item): void => {
  const decide = [admissions, preemptions];
  for (const decision of decide)
    for (const { workload, status } of decision(server.store.list(workloads), quotasOf(queue), server.clock.now())) {
      const found = server.store.get(workloads, keyOf(workload.metadata.namespace, workload.metadata.name));
      if (found !== undefined)
        rewrite(server, workloads, found, { ...found, status: { ...Object(found["status"]), ...status } });
    }
};

const makeOwn = (server: Server, application: Item): void => {
  const kind = kindOfTable(server.store, workloads);
  if (kind === undefined) return;
  const target = { kind, namespace: application.metadata.namespace, name: undefined, sub: undefined, rest: "" };
  create(server, target, ownWorkload(application, baseExecutors), {
    ...{ dryRun: false, manager: "kueue", strict: "Ignore" },
  });
};

/** The stand-in for Kueue. */
export const clusterQueue = (server: Server): Part => ({
  onChange: ({ table, type, object }) => {
    const isQueued = object.metadata.labels?.["kueue.x-k8s.io/queue-name"] !== undefined;
    if (table === applications && type === "ADDED" && object.metadata.name === appName && isQueued)
      runAfter(server, admitMs, about("kueue.own", object, { table: applications }));
    if (table === workloads || table === queues)
      for (const queue of server.store.list(queues))
        runAfter(server, admitMs, about("kueue.cycle", queue, { table: queues }));
  },
  tasks: {
    "kueue.own": (task) => {
      const application = subject(server, task);
      if (application !== undefined) makeOwn(server, application);
    },
    "kueue.cycle": (task) => {
      const queue = subject(server, task);
      if (queue !== undefined) cycle(server, queue);
    },
  },
});

type Workloads = Map<
  string,
  {
    readonly used: number;
    readonly flavor: unknown;
    readonly granted: number;
    readonly waits: number;
    readonly priority: number;
    /** It admits the base, and is in its queue. */
    readonly isQueuedBase: boolean;
  }
>;

/** The priorities of classes, and the class that the application's label names, with the one before. */
type Ranking = {
  classes: Map<string, number>;
  label: string | undefined;
  before: string | undefined;
  labelledAt: number;
};

type Facts = {
  violations: string[];
  /** By UID: the application's own Workload, and its growths. */
  workloads: Workloads;
  ranking: Ranking;
  /** By UID: executors that have not ended, and whether they have been told to. */
  executors: Map<string, { readonly leaves: boolean; readonly node: string | undefined }>;
  /** Since when two growths wait, and more executors stay than are granted; when less and more was granted last. */
  twoSince: number | undefined;
  overSince: number | undefined;
  lostAt: number;
  gainedAt: number;
  began: number | undefined;
  followedAt: number;
};

/** The longest time from a step's first read to the arrival of its last creation: fence, request timeout, rounding. */
const latestMs = 16_000;

/** A step that died is repeated after 90 s, and may die once more. */
const twoMs = 200_000;

const followedMs = 90_000;

const sum = (facts: Facts, field: "used" | "granted" | "waits"): number =>
  [...facts.workloads.values()].reduce((total, one) => total + one[field], 0);

const staying = ({ executors }: Facts): number => [...executors.values()].filter(({ leaves }) => !leaves).length;

/** Judges G6: an executor has just been told to end. */
const checkEnd = (facts: Facts, name: string, now: number): void => {
  const granted = sum(facts, "granted");
  if (staying(facts) < granted && now - facts.gainedAt > latestMs)
    facts.violations.push(`G6: ${name} is ended, and ${granted} are needed and granted`);
};

type Hearing = { readonly actor: Actor; readonly now: number; readonly evicts: boolean };

/** The node that a pod names; undefined where no flavor has nodes of its own. */
const nodeOf = (pod: Item): string | undefined => textAt(pod, "spec", "nodeSelector", "kubernetes.io/hostname");

/** Judges G7: an executor has just been created. */
const checkNodes = ({ executors, workloads, violations }: Facts, pod: Item): void => {
  const node = nodeOf(pod);
  if (node === undefined) return;
  const living = [...executors.values()].filter((one) => one.node === node).length;
  const quota = [...workloads.values()]
    .filter(({ flavor }) => flavor === flavorOfNode[node])
    .reduce((total, { used }) => total + used, 0);
  if (living > quota)
    violations.push(`G7: ${pod.metadata.name} is executor ${living} of ${node}, and quota is reserved for ${quota}`);
};

const hearExecutor = (facts: Facts, { type, object }: Change, { actor, now, evicts }: Hearing): void => {
  const { uid, name } = object.metadata;
  const leaves = object.metadata.deletionTimestamp !== undefined;
  const before = facts.executors.get(uid);
  if (type === "DELETED" || isOver(object)) {
    facts.executors.delete(uid);
    return;
  }
  facts.executors.set(uid, { leaves, node: nodeOf(object) });
  if (evicts && actor === "engine" && leaves && before?.leaves === false) checkEnd(facts, name, now);
  if (type !== "ADDED" || actor !== "engine") return;
  const [living, used, granted] = [facts.executors.size, sum(facts, "used"), sum(facts, "granted")];
  if (living > used) facts.violations.push(`G1: ${name} is executor ${living}, and quota is reserved for ${used}`);
  checkNodes(facts, object);
  if (living > granted && now - facts.lostAt > latestMs)
    facts.violations.push(`G1: ${name} is executor ${living}, and ${granted} are granted`);
};

const priorityIn = (workload: Item): number => numberAt(workload, "spec", "priority") ?? 0;

const isBase = ({ metadata }: Item): boolean => metadata.name.startsWith(`${appName}-base-`);

const priorityClass = "kueue.x-k8s.io/priority-class";

const hearRank = ({ ranking }: Facts, { table, object }: Change, now: number): void => {
  const { name, labels = {} } = object.metadata;
  if (table === "workloadpriorityclasses.kueue.x-k8s.io")
    ranking.classes.set(name, numberAt(object, "value") ?? Number.NaN);
  if (table !== applications || name !== appName || labels[priorityClass] === ranking.label) return;
  ranking.before = ranking.label;
  ranking.label = labels[priorityClass];
  ranking.labelledAt = now;
};

/** Judges G9 when a step creates a Workload. */
const checkRank = ({ ranking, workloads, violations }: Facts, one: Item, now: number): void => {
  const { classes, label = "", before = "", labelledAt } = ranking;
  const ofBase = [...workloads.values()].filter(({ waits }) => waits === 0).map(({ priority }) => priority);
  const late = now - labelledAt > latestMs ? [] : [classes.get(before)];
  const right = isGrowth(one) ? ofBase : label === "" ? [0] : [classes.get(label), ...late];
  if (!right.includes(priorityIn(one)))
    violations.push(`G9: ${one.metadata.name} has priority ${priorityIn(one)}, not ${right.join(" or ")}`);
};

/** Judges G5, G8 and G9 of a write, before the Workload is known as written. */
const checkWrite = (facts: Facts, { type, object }: Change, actor: Actor, now: number): void => {
  const { name } = object.metadata;
  if (belongsToApplication(object)) facts.violations.push(`G8: ${name} has the application as an owner`);
  if (actor === "engine" && name.startsWith(ofKueue)) facts.violations.push(`G5: a step has written ${name}`);
  if (actor === "engine" && type === "ADDED") checkRank(facts, object, now);
};

/** Judges G9: a base that waits is queued anew after its application's label names another class. */
const checkQueued = ({ ranking, workloads, violations, followedAt }: Facts, now: number): void => {
  const { classes, label, labelledAt } = ranking;
  if (label === undefined || now < Math.max(labelledAt + twoMs, followedAt)) return;
  const priority = classes.get(label);
  if ([...workloads.values()].some((one) => one.isQueuedBase && one.priority !== priority))
    violations.push(`G9: the base waits with another priority than that of ${label}`);
};

const hearWorkload = (facts: Facts, { type, object }: Change, actor: Actor, now: number): void => {
  const { uid } = object.metadata;
  const [used, granted] = [sum(facts, "used"), sum(facts, "granted")];
  if (type === "DELETED") facts.workloads.delete(uid);
  else
    facts.workloads.set(uid, {
      used: usedBy(object),
      flavor: flavorIn(object),
      granted: grantedBy(object),
      waits: isGrowth(object) && isQueued(object) ? executorsAsked(object) : 0,
      priority: priorityIn(object),
      isQueuedBase: isBase(object) && isQueued(object),
    });
  const left = sum(facts, "used");
  if (sum(facts, "granted") < granted && actor !== "engine") facts.lostAt = now;
  if (sum(facts, "granted") > granted) facts.gainedAt = now;
  if (actor === "engine" && left < used && facts.executors.size > left)
    facts.violations.push(`G2: quota is given back, and ${facts.executors.size} executors live on ${left}`);
  const waiting = [...facts.workloads.values()].filter(({ waits }) => waits > 0).length;
  facts.twoSince = waiting > 1 ? (facts.twoSince ?? now) : undefined;
};

/** Judges G3, G4 and the end of G6 whenever something happens. */
const checkWaits = (facts: Facts, settled: Demand["settled"], now: number): void => {
  if (facts.twoSince !== undefined && now - facts.twoSince > twoMs) facts.violations.push("G3: two growths wait");
  facts.overSince = staying(facts) > sum(facts, "granted") ? (facts.overSince ?? now) : undefined;
  if (facts.overSince !== undefined && now - facts.overSince > twoMs)
    facts.violations.push(`G6: ${staying(facts)} executors stay, and ${sum(facts, "granted")} are granted`);
  if (settled === undefined || facts.began === undefined) return;
  if (now < Math.max(facts.began + settled.fromMs, facts.followedAt) || now > facts.began + settled.untilMs) return;
  const asked = sum(facts, "granted") + sum(facts, "waits");
  const needed = Math.max(baseExecutors, settled.executors);
  if (asked > needed) facts.violations.push(`G4: ${asked} executors are granted or asked for, and ${needed} needed`);
};

const judging = (inner: Oracle, facts: Facts, demand: Demand | undefined): Oracle => ({
  ...inner,
  hear: (change, actor, now) => {
    const { table, object } = change;
    checkWaits(facts, demand?.settled, now);
    hearRank(facts, change, now);
    checkQueued(facts, now);
    const isOurs = [`${appName}-grow-`, `${appName}-base-`, ofKueue].some((prefix) =>
      object.metadata.name.startsWith(prefix),
    );
    if (table === workloads && isOurs) {
      checkWrite(facts, change, actor, now);
      hearWorkload(facts, change, actor, now);
    }
    if (table === "pods" && /-exec-\d+$/.test(object.metadata.name))
      hearExecutor(facts, change, { actor, now, evicts: demand?.evicted === true });
    if (table === "pods" && textAt(object, "metadata", "labels", "spark-role") === "driver")
      facts.began = startOf(object) ?? facts.began;
    inner.hear(change, actor, now);
  },
  lost: (resyncAt) => {
    facts.followedAt = Math.max(facts.followedAt, resyncAt + followedMs);
    inner.lost?.(resyncAt);
  },
  end: (objects, now) => {
    const growths = facts.workloads.size - 1;
    if (growths > 0) facts.violations.push(`G4: ${growths} growths are left`);
    inner.end(objects, now);
  },
  violations: () => [...inner.violations(), ...new Set(facts.violations)],
  copy: () => judging(inner.copy(), forked(facts), demand),
});

/** Adds the invariants of growths to the oracle of a scenario. */
export const withGrowths = (inner: Oracle, { demand }: Scenario): Oracle =>
  judging(
    inner,
    {
      ...{ violations: [], workloads: new Map(), executors: new Map(), twoSince: undefined, overSince: undefined },
      ranking: { classes: new Map(), label: undefined, before: undefined, labelledAt: Number.NEGATIVE_INFINITY },
      ...{ lostAt: Number.NEGATIVE_INFINITY, gainedAt: Number.NEGATIVE_INFINITY, began: undefined, followedAt: 0 },
    },
    demand,
  );
