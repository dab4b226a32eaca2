/**
 * Repairs what Spark's own allocator does not: executors that do not come up in time, whose node is dead, or that the
 * driver does not know. Each is deleted with its reason, and its allocator creates another. A deletion carries the
 * resourceVersion, so an executor that has changed since the read is judged again.
 */

import { all, getIfAllowed, type Reads } from "../../core/decision.ts";
import type { Stored } from "../../core/object.ts";
import type { Effect } from "../../core/plan.ts";
import { backoffOf, instantOf } from "../../core/time.ts";
import { judgedRemoval } from "../../kube/history.ts";
import {
  conditionOf,
  isEnding,
  leavingAt,
  nodeNameOf,
  type PodStatus,
  podStatus,
  waitingReason,
} from "../../kube/pods.ts";
import { pods } from "../../kube/resources.ts";
import { givenUpByDriver, type Pulse, type Registered, runningAmong, unregisteredWithDriver } from "./driver-api.ts";
import { hasId, type Ids } from "./ids.ts";
import type { Ledger, Loss } from "./ledger.ts";
import { endingOf, executorId, type LossReason } from "./losses.ts";
import { fateOf, isGivenUp, isSuspect, type NodeState, nodeRef, nodeStateOf } from "./nodes.ts";

/** The most pods deleted in one step; their events bring the next step. */
export const mostDeletions = 100;

/** The annotation by which a user sets the time for the start of executors; with it, a timer keeps that time. */
export const pendingAnnotation = "rekindle.dev/executor-pending-timeout";

/** An application whose executors are repaired, at the time of the API server, and its policies, in ms. */
export type RepairContext = {
  readonly view: { readonly now: number };
  readonly object: Stored;
  readonly policies: {
    readonly pendingMs: number;
    readonly pendingMaxMs: number;
    readonly nodeGraceMs: number;
    readonly registrationMs: number;
    readonly unreachableExecutors: "free" | "wait";
  };
};

/** Hindrances of a pod's start. `volume` also stands for all that a node does before it creates containers. */
export const hindrances = ["unschedulable", "imagePull", "config", "volume"] as const;
export type Hindrance = (typeof hindrances)[number];

/** Waiting reasons of a container, as the kubelet writes them. */
const byReason: Readonly<Record<string, Hindrance>> = {
  ErrImagePull: "imagePull",
  ImagePullBackOff: "imagePull",
  ErrImageNeverPull: "imagePull",
  ImageInspectError: "imagePull",
  InvalidImageName: "imagePull",
  RegistryUnavailable: "imagePull",
  SignatureValidationFailed: "imagePull",
  CreateContainerConfigError: "config",
  CreateContainerError: "config",
  CreatePodSandboxError: "config",
  RunContainerError: "config",
  StartError: "config",
};

export type PendingCause = {
  readonly by: Hindrance;
  /** The platform's message. */
  readonly says: string;
  /** The pod itself shows an error; else it is only slow. */
  readonly plain: boolean;
};

const waitsFor = ({ containerStatuses }: PodStatus): string | undefined =>
  containerStatuses?.find(({ state }) => state?.waiting !== undefined)?.state?.waiting?.reason;

/** The hindrance of a pod; undefined for one that runs, has ended, is being deleted, or is gated on purpose. */
export const heldBy = (pod: Stored): PendingCause | undefined => {
  const status = podStatus(pod);
  if (status.phase !== "Pending" || isEnding(pod)) return undefined;
  const placed = conditionOf(status, "PodScheduled");
  if (placed?.reason === "SchedulingGated") return undefined;
  const says = waitingReason(status) ?? "";
  if (placed?.status === "False") return { by: "unschedulable", says, plain: true };
  const by = byReason[waitsFor(status) ?? ""];
  if (by !== undefined) return { by, says, plain: true };
  return nodeNameOf(pod) === undefined
    ? { by: "unschedulable", says: "no scheduler has looked at it", plain: false }
    : { by: "volume", says: says === "" ? "its containers are not created" : says, plain: false };
};

/** The time to wait for a pod after `times` deletions in a row, ms: it doubles with each. */
const waitLimitMs = (times: number, leastMs: number, mostMs: number): number =>
  backoffOf(times, leastMs, Math.max(leastMs, mostMs));

export type LatePods = {
  /** Pods that are hindered for too long, by id. */
  readonly late: readonly { readonly pod: Stored; readonly held: PendingCause }[];
  /** The time when the next one with an error is late, epoch ms. */
  readonly next: number | undefined;
};

/** Finds the pods that are hindered for too long. `timed`: a timer also waits for those that are only slow. */
const stuckAmong = (
  pods: readonly Stored[],
  { now, limitMs, timed }: { readonly now: number; readonly limitMs: number; readonly timed: boolean },
): LatePods => {
  const held = pods.flatMap((pod) => {
    const by = heldBy(pod);
    const since = instantOf(pod.metadata.creationTimestamp);
    return by === undefined || since === undefined ? [] : [{ pod, held: by, due: since + limitMs }];
  });
  const waiting = held.filter(({ due, held: { plain } }) => due > now && (plain || timed)).map(({ due }) => due);
  return {
    late: held.filter(({ due }) => due <= now),
    next: waiting.length === 0 ? undefined : waiting.reduce((a, b) => Math.min(a, b)),
  };
};

/** An executor that is to be deleted. `forced`: without grace, because no kubelet answers. */
export type Termination = {
  readonly pod: Stored;
  readonly reason: LossReason;
  readonly why: string;
  readonly forced: boolean;
  /** Time for its tasks and for moving its data, instead of its pod's own grace, ms. */
  readonly graceMs?: number | undefined;
};

/** The most nodes read in one step. */
const mostNodes = 20;

export type NodeStates = ReadonlyMap<string, NodeState>;

/** True when the time has come at which the node of a pod was to go, as a notice says. */
const isDue = (pod: Stored, now: number): boolean => endingOf(pod) === undefined && (leavingAt(pod) ?? now + 1) <= now;

/** Reads the nodes of executors that may have died with their node. */
export const nodesOf = (
  { view: { now } }: Pick<RepairContext, "view">,
  executors: readonly Stored[],
): Reads<NodeStates> => statesOf(executors.filter((pod) => isSuspect(pod) || isGivenUp(pod, now) || isDue(pod, now)));

/** Reads the states of these pods' nodes. */
export function* statesOf(suspects: readonly Stored[]): Reads<NodeStates> {
  const names = [...new Set(suspects.flatMap((pod) => nodeNameOf(pod) ?? []))].sort().slice(0, mostNodes);
  const results = yield* all(names.map((name) => getIfAllowed(nodeRef(name))));
  return new Map(
    names.flatMap((name, index) => {
      const result = results[index];
      return result === undefined ? [] : [[name, nodeStateOf(result)]];
    }),
  );
}

export type Evidence = {
  readonly executors: readonly Stored[];
  readonly over: Ids;
  readonly nodes: NodeStates;
  /** The driver's answer, if it was queried and answered; and the state of its earlier answers. */
  readonly word: Registered | undefined;
  readonly pulse: Pulse | undefined;
  /** Executors whose node is about to go. */
  readonly leave: Pick<Part, "terminations" | "until">;
};

export type Repair = {
  readonly terminations: readonly Termination[];
  readonly stuck: NonNullable<Ledger["care"]>["stuck"];
  readonly wakeAt: number | undefined;
  /** The number of executors that wait for a dead node. */
  readonly bound: number;
  /** A node could not be read: it is read again, without a save. */
  readonly again: boolean;
};

type Part = Pick<Repair, "terminations"> & { readonly until: readonly number[] };

const onDeadNodes = (
  { view, policies }: RepairContext,
  { executors, nodes }: Evidence,
): Part & Pick<Repair, "bound" | "again"> => {
  const bearing = {
    now: view.now,
    graceMs: policies.nodeGraceMs,
    waits: policies.unreachableExecutors === "wait",
  };
  const fates = executors.flatMap((pod) => {
    const state = nodes.get(nodeNameOf(pod) ?? "");
    return state === undefined || endingOf(pod) !== undefined ? [] : [{ pod, fate: fateOf(pod, state, bearing) }];
  });
  return {
    terminations: fates.flatMap(({ pod, fate }) =>
      fate.is === "free" ? [{ pod, reason: "node", why: fate.why, forced: true } as const] : [],
    ),
    until: fates.flatMap(({ fate }) => (fate.is === "wait" ? [fate.until] : [])),
    bound: fates.filter(({ fate }) => fate.is === "bound").length,
    again: fates.some(({ fate }) => fate.is === "ask"),
  };
};

const neverUp = ({ view, policies, object }: RepairContext, { executors }: Evidence, care: Ledger["care"]): Part => {
  const limitMs = waitLimitMs(care?.stuck?.times ?? 0, policies.pendingMs, policies.pendingMaxMs);
  const timed = object.metadata.annotations?.[pendingAnnotation] !== undefined;
  const { late, next } = stuckAmong(executors, { now: view.now, limitMs, timed });
  return {
    terminations: late.map(({ pod, held }) => {
      const why = `${held.by}${held.says === "" ? "" : `: ${held.says}`}`;
      return { pod, reason: "neverStarted", why, forced: false };
    }),
    until: next === undefined ? [] : [next],
  };
};

const unknownToDriver = ({ view, policies }: RepairContext, { executors, word, pulse }: Evidence): Part => {
  if (word === undefined) return { terminations: [], until: [] };
  const running = runningAmong(executors);
  const termination = (reason: LossReason, why: string) => (pod: Stored) => ({ pod, reason, why, forced: false });
  const never = unregisteredWithDriver(running, word, { now: view.now, limits: policies });
  return {
    terminations: [
      ...never.map(termination("neverRegistered", "the driver does not know it")),
      ...givenUpByDriver(running, pulse, word).map(termination("inactive", "the driver has given it up")),
    ],
    until: [],
  };
};

/** Counts the deletions in a row; they start anew once an executor younger than the last deleted one runs. */
const stuckAfter = (executors: readonly Stored[], late: Part, before: Repair["stuck"]): Repair["stuck"] => {
  const last = Math.max(...late.terminations.map(({ pod }) => executorId(pod) ?? 0), before?.last ?? 0);
  if (late.terminations.length > 0) return { times: (before?.times ?? 0) + 1, last };
  const recovered = runningAmong(executors).some((pod) => (executorId(pod) ?? 0) > last);
  return recovered ? undefined : before;
};

/** Collects all deletions, each executor once, and the next time to look. */
export const repairExecutors = (context: RepairContext, evidence: Evidence, care: Ledger["care"]): Repair => {
  const executors = evidence.executors.filter((pod) => executorId(pod) !== undefined);
  const known = { ...evidence, executors };
  const dead = onDeadNodes(context, known);
  const late = neverUp(context, known, care);
  const parts = [dead, evidence.leave, late, unknownToDriver(context, known)];
  const terminations = new Map<string, Termination>();
  for (const termination of parts.flatMap((part) => part.terminations))
    if (!terminations.has(termination.pod.metadata.uid)) terminations.set(termination.pod.metadata.uid, termination);
  const until = parts.flatMap((part) => part.until);
  return {
    terminations: [...terminations.values()].slice(0, mostDeletions),
    stuck: stuckAfter(executors, late, care?.stuck),
    wakeAt: until.length === 0 ? undefined : until.reduce((a, b) => Math.min(a, b)),
    bound: dead.bound,
    again: dead.again,
  };
};

/** The losses of these deletions; executors that are accounted for are only deleted. */
export const terminationsOf = (terminations: readonly Termination[], over: Ids, now: number): readonly Loss[] =>
  terminations.flatMap(({ pod, reason, why }) => {
    const id = executorId(pod);
    if (id === undefined || hasId(over, id)) return [];
    const node = nodeNameOf(pod);
    const { uid, name } = pod.metadata;
    const where = node === undefined ? {} : { node };
    return [{ id, uid, pod: name, reason, ...where, why: why.slice(0, 200), at: now }];
  });

/**
 * The last status of a force-deleted pod, as the pod garbage collector writes it for a node out of service. Spark's
 * driver goes by it: the absence of a pod it notices only when it lists, every 30 s
 * (spark.kubernetes.executor.apiPollingInterval).
 */
const lost = (why: string) => ({ phase: "Failed", reason: "NodeLost", message: why });

/** Deletes by UID and resourceVersion; without grace where no node is there to give it. */
export const effectsOfEndings = (terminations: readonly Termination[]): readonly Effect[] =>
  terminations
    .filter(({ pod, forced }) => forced || !isEnding(pod))
    .map(({ pod, forced, why, graceMs }) => {
      const grace = graceMs === undefined ? {} : { graceSeconds: Math.ceil(graceMs / 1_000) };
      const now = { graceSeconds: 0, lastWord: lost(why) };
      return { ...judgedRemoval(pods, pod), ...(forced ? now : grace) };
    });
