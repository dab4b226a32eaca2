/**
 * Finds the component that admits groups: Volcano's scheduler while any sign shows that it runs, else Rekindle. A sign
 * counts only where a tenant cannot forge it: leases and pods in namespaces of administrators, writes to objects without
 * a namespace, and pods whose account may bind pods in all namespaces.
 */
import { all, list, type Reads } from "../../core/decision.ts";
import type { Resource, Stored } from "../../core/object.ts";
import type { Looking, Projection, View } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { type Account, accountOf, accountText, type ClusterRight } from "../../kube/accounts.ts";
import { withRight } from "../../kube/cluster-rights.ts";
import { isWaiting, phaseOf } from "../../kube/gang-plan.ts";
import { isReady } from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { isRenewed, runsImage, writtenBy } from "../../kube/upstream-controllers.ts";
import type { QueueMemory } from "../queue/state/memory.ts";
import type { GangMode } from "./settings.ts";

const leases: Resource = { group: "coordination.k8s.io", version: "v1", plural: "leases", kind: "Lease" };

/** The detection of the scheduler. */
export type Detecting = {
  readonly mode: GangMode;
  /** Namespaces whose leases and pods count, because only administrators write there. */
  readonly namespaces: readonly string[];
};

/** The scheduler's lease has its name; with several names, it has the component's. */
const names = ["volcano", "vc-scheduler"] as const;

/** Keeps the leases of these namespaces. */
const inNamespaces =
  (namespaces: readonly string[]): Projection =>
  (lease) =>
    namespaces.includes(lease.metadata.namespace ?? "") ? lease : undefined;

const leaseQuery = (name: string, namespaces: readonly string[]): Looking => ({
  do: "list",
  resource: leases,
  namespace: "",
  labels: {},
  field: `metadata.name=${name}`,
  projecting: () => inNamespaces(namespaces),
});

/** Reads the leases that the scheduler may hold; reads nothing unless the mode is `auto`. */
export function* readLeases({ mode, namespaces }: Detecting): Reads<readonly Stored[]> {
  if (mode !== "auto") return [];
  const found = yield* all(names.map((name) => list(leaseQuery(name, namespaces))));
  return found.flat();
}

/** Lists the pods of upstream's chart and manifests in a namespace: a tenant may have any number elsewhere. */
const labelled = (namespace: string): Looking => ({
  do: "list",
  resource: pods,
  namespace,
  labels: { app: "volcano-scheduler" },
});

/** Keeps the Ready pods of the scheduler's image, with their account. */
const schedulersOnly: Projection = (pod) => {
  if (!isReadyScheduler(pod)) return undefined;
  const { apiVersion, kind, metadata } = pod;
  const { name, namespace = "", uid, resourceVersion } = metadata;
  const spec = { serviceAccountName: accountOf(pod).name };
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, spec };
};

/**
 * Lists running pods that are no batch pods of Volcano. A scheduler that was installed otherwise is recognized among
 * them by its image.
 */
const running: Looking = {
  ...{ do: "list", resource: pods, namespace: "", labels: {} },
  field: "spec.restartPolicy=Always,spec.schedulerName!=volcano,status.phase=Running",
  projecting: () => schedulersOnly,
};

/** The right without which a scheduler cannot do its work. */
const binding: ClusterRight = { group: "", resources: ["pods/binding", "bindings"], verbs: ["create"] };

/** The time, ms, for which a search without a result holds: a scheduler at work shows by its writes. */
const searchMs = 300_000;

const image = /(^|\/)vc-scheduler(-[a-z0-9]+)?$/;

/** The field manager of the scheduler's writes. */
const manager = /^vc-scheduler/;

/**
 * A write within this time, ms, shows the scheduler at work: each second it replaces phases of "" and writes the
 * amounts allocated in queues.
 */
const writingMs = 120_000;

/** Rekindle does not change a phase that the scheduler has written within this time, ms. */
const ownedMs = 30_000;

/** A group that has waited this long, ms, for a scheduler that seems to run shows that the scheduler does nothing. */
const silentMs = 10_000;

export type SchedulerFinding = {
  readonly admits: "scheduler" | "here";
  readonly saying: string;
  /** A warning about a scheduler that runs and admits nothing. */
  readonly silent?: string;
  /** The warning may be due soon. */
  readonly doubtful?: true;
  /** When a search of all pods found no scheduler, epoch ms. */
  readonly searchedAt?: number | undefined;
};

/** The objects that the decision is made from. */
export type SchedulerSigns = Pick<View<QueueMemory>, "now" | "memory"> & {
  readonly leases: readonly Stored[];
  readonly queues: readonly Stored[];
  readonly groups: readonly Stored[];
};

const letting =
  "Rekindle admits groups of pods by the state and the capability of their queues, and their pods go to default-scheduler one by one; with gang builtin, groups would start whole";

const fitting =
  "Rekindle admits a group of pods by the state and the capability of its queue once its whole minimum fits the nodes, and its pods go to default-scheduler";

const bindingText =
  "Rekindle admits a group of pods by the state and the capability of its queue, and default-scheduler binds its pods together";

const leaving = "groups of pods are left to it";

const placeOf = ({ metadata: { namespace, name } }: Stored): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** True for a group whose phase Volcano's scheduler wrote within `ownedMs`. */
export const isSchedulers = (group: Stored, now: number): boolean =>
  writtenBy(group, { manager, withinMs: ownedMs }, now);

const byLease = ({ leases: all, now }: SchedulerSigns): SchedulerFinding | undefined => {
  const held = all.find((lease) => isRenewed(lease, now));
  if (held === undefined) return undefined;
  return { admits: "scheduler", saying: `Volcano's scheduler renews its lease ${placeOf(held)}: ${leaving}` };
};

/** A Queue has no namespace, so a right in one namespace does not suffice to write its status. */
const byWrites = ({ queues, now }: SchedulerSigns): SchedulerFinding | undefined => {
  const written = queues.find((object) => writtenBy(object, { manager, withinMs: writingMs, statusOnly: true }, now));
  if (written === undefined) return undefined;
  const { kind } = written;
  const saying = `vc-scheduler wrote ${kind} ${placeOf(written)} within ${writingMs / 60_000} minutes: ${leaving}`;
  return { admits: "scheduler", saying };
};

/** Returns the oldest group without a phase, and its age in ms. */
const longestWaiting = ({
  groups,
  now,
}: SchedulerSigns): { readonly group: Stored; readonly ageMs: number } | undefined =>
  groups
    .filter((group) => isWaiting(group) && phaseOf(group) === "")
    .map((group) => ({ group, ageMs: now - (instantOf(group.metadata.creationTimestamp) ?? now) }))
    .sort((a, b) => b.ageMs - a.ageMs)[0];

/** Ready proves only that the pod runs, not that the scheduler admits groups. */
const byPod = (signs: SchedulerSigns, pod: Stored): SchedulerFinding => {
  const alive = `pod ${placeOf(pod)} of Volcano's scheduler is Ready`;
  const left: SchedulerFinding = { admits: "scheduler", saying: `${alive}: ${leaving}` };
  const waiting = longestWaiting(signs);
  if (waiting === undefined) return left;
  if (waiting.ageMs < silentMs) return { ...left, doubtful: true };
  const { group, ageMs } = waiting;
  const silent = `${alive}, but has written nothing of PodGroup ${placeOf(group)} for ${Math.floor(ageMs / 1_000)} s. Rekindle does not admit the group while that pod is Ready. Check the scheduler's log, or set gang to none if it should not place these pods`;
  return { ...left, silent };
};

const isReadyScheduler = (pod: Stored): boolean => isReady(pod) && runsImage(pod, image);

/** Returns a Ready scheduler among all running pods that an administrator has installed. */
function* searched(namespaces: readonly string[]): Reads<Stored | undefined> {
  const found = yield* list(running);
  const isListed = ({ metadata: { namespace = "" } }: Stored): boolean => namespaces.includes(namespace);
  const listed = found.find(isListed);
  if (listed !== undefined) return listed;
  const accounts = new Map(found.map(accountOf).map((one): [string, Account] => [accountText(one), one]));
  const able = new Set((yield* withRight([...accounts.values()], binding)).map(accountText));
  return found.find((pod) => able.has(accountText(accountOf(pod))));
}

/** Looks for a scheduler among the pods of upstream's chart, then among all. */
function* fromPods(namespaces: readonly string[], signs: SchedulerSigns): Reads<SchedulerFinding> {
  const { now, memory } = signs;
  const own = (yield* all(namespaces.map((namespace) => list(labelled(namespace))))).flat();
  const ready = own.find(isReady);
  if (ready !== undefined) return byPod(signs, ready);
  const { admits, searchedAt } = memory ?? {};
  const here: SchedulerFinding = {
    admits: "here",
    saying: `no lease of Volcano's scheduler (${names.join(", ")}) is being renewed in a namespace of controllerNamespaces, no pod of it is Ready there or may bind pods in all namespaces, and it has written no Queue for ${writingMs / 60_000} minutes: ${letting}`,
  };
  if (admits === "here" && searchedAt !== undefined && now - searchedAt < searchMs) return { ...here, searchedAt };
  const found = yield* searched(namespaces);
  return found === undefined ? { ...here, searchedAt: now } : byPod(signs, found);
}

/** Finds the component that admits groups. Without a sign of life and while no group waits, the last finding holds. */
export function* find({ mode, namespaces }: Detecting, signs: SchedulerSigns): Reads<SchedulerFinding> {
  if (mode === "scheduler")
    return { admits: "scheduler", saying: "groups of pods are left to Volcano's scheduler, as `gang: scheduler` says" };
  if (mode === "none")
    return { admits: "here", saying: `without Volcano's scheduler, as \`gang: none\` says, ${letting}` };
  if (mode === "builtin")
    return { admits: "here", saying: `without Volcano's scheduler, as \`gang: builtin\` says, ${fitting}` };
  if (mode === "native")
    return { admits: "here", saying: `without Volcano's scheduler, as \`gang: native\` says, ${bindingText}` };
  const alive = byLease(signs) ?? byWrites(signs);
  if (alive !== undefined) return alive;
  const { admits, searchedAt } = signs.memory ?? {};
  const isKnown = admits === "scheduler" || admits === "here";
  if (isKnown && !signs.groups.some(isWaiting)) return { admits, saying: "", searchedAt };
  return yield* fromPods(namespaces, signs);
}
