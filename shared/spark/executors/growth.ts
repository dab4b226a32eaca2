/**
 * Growths of an application with Kueue's queue label: Workloads beside the one that admits its driver and its first
 * executors, each of which asks for the executors that the driver needs beyond those. Decides from the Workloads as
 * they were read, so that a lost record or a repeated step asks for nothing twice.
 *
 * K1. No more executors live than the base and the admitted growths grant.
 * K2. At most one growth waits; its number follows the demand in place.
 * K3. Quota is given back only when no pod is left that uses it.
 * K4. An executor uses quota of one set of flavors, and runs on nodes of these: see `flavors.ts`.
 */
import { fieldsOf, recordsIn } from "../../core/json.ts";
import { digest } from "../../core/key.ts";
import { apiVersionOf, refTo, type Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import {
  isActive,
  ownWorkloads,
  readyOnce,
  reservesQuota,
  statusWithoutQuota,
  statusWrite,
  workloads,
} from "../../kube/kueue.ts";
import { type GrowthCounts, type GrowthState, growthCountsOf, growthStateOf } from "../../kube/kueue-growth.ts";
import { derivedLabel } from "../../kube/names.ts";
import { isEnding } from "../../kube/pods.ts";
import type { Json } from "../../kube/responses.ts";
import { mostExecutors } from "../schema/limits.ts";
import { flavorsNameOf, podSet } from "./flavors.ts";
import { type Grants, grantOn, totalOf, withBase } from "./grants.ts";

export type Growth = GrowthCounts & {
  readonly workload: Stored;
  readonly state: GrowthState;
  /** The name of the flavors that Kueue has assigned to it: "" for those of the base. */
  readonly flavors: string;
};

/** Reads a Workload as a growth of a base with these flavors. */
export const growthOf = (workload: Stored, base: string | undefined): Growth => {
  const assignedTo = flavorsNameOf(workload);
  const flavors = base === undefined || assignedTo === base ? "" : assignedTo;
  return { workload, state: growthStateOf(workload), ...growthCountsOf(workload), flavors };
};

const inState = (growths: readonly Growth[], state: GrowthState): readonly Growth[] =>
  growths.filter((one) => one.state === state);

/** The executors that admitted growths grant, by the name of their flavors. */
export const grantedBy = (growths: readonly Growth[]): Grants => {
  const sums = new Map<string, number>();
  for (const { flavors, executors } of inState(growths, "granted"))
    sums.set(flavors, Math.min(mostExecutors, (sums.get(flavors) ?? 0) + executors));
  return Object.fromEntries(sums);
};

/** The most growths of a run at a time, so that no name is searched for long. */
const mostGrowths = 200;

/** Returns a name that no growth of the run has: `NAME-grow-HASH`. */
const freeName = (name: string, run: string, growths: readonly Growth[]): string | undefined => {
  const taken = new Set(growths.map(({ workload }) => workload.metadata.name));
  return Array.from({ length: mostGrowths }, (_, at) =>
    derivedLabel(name, `grow-${digest(run, `${at}`).slice(0, 8)}`),
  ).find((one) => !taken.has(one));
};

/** The run that grows. */
export type Growing = {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly attempt: number;
  /** Labels by which the Workloads are found. */
  readonly labels: Readonly<Record<string, string>>;
};

export type Need = {
  readonly growths: readonly Growth[];
  /** The executors that the application's own Workload grants. */
  readonly base: number;
  readonly wanted: number;
  /** Executors that use quota of flavors, or may begin to. */
  readonly occupied: (flavors: string) => number;
  /** Executors that run. */
  readonly running: number;
  readonly now: number;
};

const removed = ({ workload }: Growth): Effect => {
  const { uid, resourceVersion } = workload.metadata;
  return { do: "delete", ref: refTo(workloads, workload), uid, resourceVersion };
};

const resized = ({ workload }: Growth, count: number): Effect => {
  const { uid, resourceVersion } = workload.metadata;
  const podSets = recordsIn(fieldsOf(workload.spec)["podSets"]).map((one) => ({ ...one, count }));
  return { do: "patch", ref: refTo(workloads, workload), uid, resourceVersion, patch: { spec: { podSets } } };
};

const reclaimed = ({ workload, reclaimed: before }: Growth, executors: number): Effect =>
  statusWrite(workload, { reclaimablePods: [{ name: podSet, count: before + executors }] });

const newest = (a: Growth, b: Growth): number =>
  (b.workload.metadata.creationTimestamp ?? "").localeCompare(a.workload.metadata.creationTimestamp ?? "") ||
  b.workload.metadata.name.localeCompare(a.workload.metadata.name);

/** Gives back the quota of executors that are neither wanted nor there: of whole growths first, then of a part of one. */
const givenBack = ({ growths, base, wanted, occupied }: Need): readonly Effect[] => {
  const grants = withBase(base, grantedBy(growths));
  let excess = totalOf(grants) - Math.max(base, wanted);
  const free = new Map(Object.entries(grants).map(([name, granted]) => [name, granted - occupied(name)]));
  const freeIn = ({ flavors }: Growth): number => Math.min(excess, free.get(flavors) ?? 0);
  const effects: Effect[] = [];
  const kept = inState(growths, "granted")
    .toSorted(newest)
    .filter((growth) => {
      if (growth.executors > freeIn(growth)) return true;
      excess -= growth.executors;
      free.set(growth.flavors, (free.get(growth.flavors) ?? 0) - growth.executors);
      effects.push(removed(growth));
      return false;
    });
  const part = kept.find((growth) => freeIn(growth) > 0);
  return part === undefined ? effects : [...effects, reclaimed(part, freeIn(part))];
};

/** The growths that wait, the oldest first: it is the one that stays. A deactivated one is its administrator's, and stays. */
const waitingIn = ({ growths }: Need): readonly Growth[] =>
  inState(growths, "waiting")
    .toSorted(newest)
    .toReversed()
    .sort((a, b) => Number(isActive(a.workload)) - Number(isActive(b.workload)));

export type GrowthPlan = {
  readonly effects: readonly Effect[];
  /** The executors that a new growth is to ask for; 0: none is created. */
  readonly asks: number;
  /** The growth that waits. */
  readonly waiting?: Growth;
};

/** Resizes the growth that waits, deletes what is left of others, and says how many a new one is to ask for. */
const asking = (need: Need, lack: number): GrowthPlan => {
  const [first, ...others] = waitingIn(need);
  const surplus = others.filter(({ workload }) => isActive(workload)).map(removed);
  if (first === undefined) return { effects: surplus, asks: Math.max(0, lack) };
  if (!isActive(first.workload)) return { effects: surplus, asks: 0, waiting: first };
  if (lack <= 0) return { effects: [removed(first), ...surplus], asks: 0 };
  // Kueue refuses changes of pod sets while admission checks are open.
  const fits = first.executors === lack || reservesQuota(first.workload);
  return { effects: [...(fits ? [] : [resized(first, lack)]), ...surplus], asks: 0, waiting: first };
};

/** Says of the admitted growths that their executors are ready, once no executor that is wanted and granted lacks. */
const readied = ({ growths, base, wanted, running, now }: Need, granted: number): readonly Effect[] => {
  const isReady = running >= Math.min(granted, Math.max(base, wanted));
  return inState(growths, "granted").flatMap(({ workload }) => readyOnce(workload, isReady, now));
};

/** Decides about the growths of a run. */
export const growthPlan = (need: Need): GrowthPlan => {
  const { growths, base, wanted, occupied, now } = need;
  const grants = withBase(base, grantedBy(growths));
  const over = inState(growths, "over")
    .filter(({ workload }) => !isEnding(workload))
    .map(removed);
  const evicted = inState(growths, "evicted");
  if (evicted.length > 0) {
    const isDrained = ({ flavors }: Growth): boolean => occupied(flavors) <= grantOn(grants, flavors);
    const released = evicted
      .filter(isDrained)
      .map(({ workload }) => statusWrite(workload, statusWithoutQuota(workload, now)));
    return { effects: [...over, ...released], asks: 0 };
  }
  const granted = totalOf(grants);
  const { effects, ...asked } = asking(need, wanted - granted);
  const back = givenBack(need);
  // One step writes a Workload once.
  return { ...asked, effects: [...over, ...effects, ...(back.length === 0 ? readied(need, granted) : back)] };
};

/** The ranking of the application's own Workload, which its growths share. */
const rankOf = (own: Stored): Json => {
  const { priority, priorityClassRef, priorityClassName, priorityClassSource } = fieldsOf(own.spec);
  const given = { priority, priorityClassRef, priorityClassName, priorityClassSource };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
};

/**
 * Creates a growth, which belongs to `own`, the application's Workload, and is ranked as it: see `isGrowthOf`. `spec`: of an executor. Its node selector has the
 * labels of the flavor that the base was assigned, so that a growth is admitted on that flavor, or not at all. Kueue may admit fewer executors than it asks for.
 */
export const growthCreation = (run: Growing, { growths, queue, executors, own, spec }: Asked): Effect | undefined => {
  const name = freeName(run.name, `${run.uid}/${run.attempt}`, growths);
  if (name === undefined) return undefined;
  const kind = { apiVersion: apiVersionOf(workloads), kind: workloads.kind };
  const object = {
    ...kind,
    metadata: {
      name,
      namespace: run.namespace,
      labels: { ...run.labels, ...ownWorkloads },
      ownerReferences: [{ ...kind, name: own.metadata.name, uid: own.metadata.uid }],
    },
    spec: {
      queueName: queue,
      podSets: [{ name: podSet, count: executors, minCount: 1, template: { spec } }],
      ...rankOf(own),
    },
  };
  return { do: "create", object, resource: workloads, owner: own.metadata.uid, optional: true };
};

type Asked = {
  readonly growths: readonly Growth[];
  readonly queue: string;
  readonly executors: number;
  readonly own: Stored;
  readonly spec: Json;
};
