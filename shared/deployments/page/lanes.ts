/**
 * The pods of applications as this process has seen them, also after they are gone: from their request until
 * they ended. Bounded: of an application the newest, and of each namespace, within its share, the applications whose pods
 * or records changed last.
 */

import { forgetOldest } from "../../core/cache.ts";
import { fieldsOf, isRecord } from "../../core/json.ts";
import { attemptLabel, type Stored } from "../../core/object.ts";
import { openShare } from "../../core/share.ts";
import { startOf } from "../../core/text.ts";
import { instantOf } from "../../core/time.ts";
import { historyOf, lossesOf, plannedEnds, type RecordView } from "../../inspection/record.ts";
import { accountsOf, type RunAccount, requestsIn } from "../../inspection/usage.ts";
import { requestsOf } from "../../kube/pod-usage.ts";
import { labelOf, nodeNameOf } from "../../kube/pods.ts";
import type { Lane, LossRow } from "../../page/wire.ts";
import { flavorsKey } from "../../spark/executors/flavors.ts";
import { endingOf, losses as lossTable } from "../../spark/executors/losses.ts";
import { ownerOf } from "./projection.ts";

/** The most pods, and the most losses, of one application that are remembered. */
const mostPods = 600;
/** The most pods and losses of all applications; each takes some hundred bytes. The namespaces share them. */
const mostOfAll = 60_000;
/** The longest text of a pod or a loss, which a tenant may have written. */
const longestText = 253;

const short = (text: string): string => startOf(text, longestText);

/** A loss in a record; `pod` is empty where no step saw the pod's end. */
export type RecordedLoss = LossRow & { readonly pod: string };

/** The losses of a record as lanes show them. */
const recordedLosses = (found: ReturnType<typeof lossesOf>): readonly RecordedLoss[] =>
  (found?.losses ?? []).slice(-mostPods).map(({ id, reason, node = "", exitCode, why = "", at, pod = "" }) => ({
    ...{ id, reason: short(reason), node: short(node), why: short(why), pod: short(pod) },
    exit: exitCode,
    at: Date.parse(at),
  }));

/** The driver of a past run as its record tells it. */
const pastDriver = ({ attempt, submittedAt, upAt, endedAt, isFailed, node, ...run }: RunAccount): readonly Lane[] => {
  if (endedAt === undefined) return [];
  return [
    {
      ...{ pod: `driver of attempt ${attempt}`, role: "driver", id: 0, attempt, isRecorded: true },
      ...{ requestedAt: submittedAt, end: endedAt },
      ...(upAt === undefined ? {} : { up: upAt }),
      ...requestsIn(run)?.driver,
      ...(node === undefined ? {} : { node: short(node) }),
      ...(isFailed ? { lost: true, reason: "failed" } : {}),
    },
  ];
};

/** True for a reason in a record that is a loss. */
const isLoss = (reason: string): boolean => !plannedEnds.includes(reason);

/** The word of a record about ended executors, which precedes what their pods show. */
export type RecordedEnds = {
  /** The latest losses of the newest attempt. */
  readonly losses: readonly RecordedLoss[];
  readonly attempt: number;
  /** Why executors ended, by `ATTEMPT/ID`. */
  readonly reasons: ReadonlyMap<string, string>;
};

const noEnds: RecordedEnds = { losses: [], attempt: 1, reasons: new Map() };

/** The ends in a record; of an edited one no more than lanes are kept. */
export const recordedEnds = (record: RecordView | undefined): RecordedEnds => {
  const reasons = accountsOf(record).flatMap(({ attempt, lifetimes }) =>
    lifetimes.map(([id, , , , , reason]) => [`${attempt}/${id}`, short(reason)] as const),
  );
  return {
    losses: recordedLosses(lossesOf(record)).filter(({ reason }) => isLoss(reason)),
    attempt: historyOf(record).at(-1)?.attempt ?? 1,
    reasons: new Map(reasons.slice(-mostPods)),
  };
};

const recordedLane = (run: RunAccount, [id, created, up, end, node, reason]: RunAccount["lifetimes"][number]): Lane => {
  const requestedAt = created * 1_000;
  return {
    ...{
      pod: `executor ${id} of attempt ${run.attempt}`,
      role: "executor",
      id,
      attempt: run.attempt,
      isRecorded: true,
    },
    ...{ requestedAt, end: requestedAt + end * 1_000 },
    ...(up < 0 ? {} : { up: requestedAt + up * 1_000 }),
    ...(node === "" ? {} : { node: short(node) }),
    ...requestsIn(run)?.executor,
    ...(isLoss(reason) ? { lost: true, reason } : {}),
  };
};

/** The drivers of past runs, and executors that have ended, as the record tells them. */
export const recordedLanes = (runs: readonly RunAccount[]): readonly Lane[] =>
  runs.flatMap((run) => [...pastDriver(run), ...run.lifetimes.map((one) => recordedLane(run, one))]);

export type Lanes = {
  /** Takes in a pod. Returns the key text of its application; undefined for a pod of no application. */
  see(pod: Stored): string | undefined;
  /** Takes in a pod's deletion. */
  gone(pod: Stored, now: number): string | undefined;
  /** Takes in the ends of executors that a record tells. */
  recorded(key: string, ends: RecordedEnds): void;
  /** The lanes, marked by the record; where it does not tell of an end yet, by what the pod shows. */
  of(key: string): readonly Lane[];
  forget(key: string): void;
};

type State = { readonly up?: number; readonly end?: number; readonly reason?: string; readonly exit?: number };

const instant = (value: unknown): number | undefined => (typeof value === "string" ? instantOf(value) : undefined);

const stateIn = (container: unknown): State => {
  const state = fieldsOf(fieldsOf(container)["state"]);
  const { running, terminated } = state;
  const up = isRecord(running) ? instant(running["startedAt"]) : undefined;
  if (!isRecord(terminated)) return up === undefined ? {} : { up };
  const started = instant(terminated["startedAt"]);
  const end = instant(terminated["finishedAt"]);
  const { exitCode, reason } = terminated;
  return {
    ...(started === undefined ? {} : { up: started }),
    ...(end === undefined ? {} : { end }),
    ...(typeof exitCode === "number" ? { exit: exitCode } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
  };
};

const stateOf = (pod: Stored): State => {
  const status = fieldsOf(pod.status);
  const { containerStatuses, phase, reason } = status;
  const first: unknown = Array.isArray(containerStatuses) ? containerStatuses[0] : undefined;
  const state = stateIn(first);
  const why = typeof reason === "string" && reason !== "" ? { reason } : {};
  return phase === "Failed" && state.exit === undefined
    ? { ...state, ...why }
    : { ...state, ...(state.exit === undefined ? {} : why) };
};

const roleOf = (pod: Stored): Lane["role"] => {
  const role = labelOf(pod, "spark-role");
  if (role === "driver" || (labelOf(pod, "sparkoperator.k8s.io/connect-name") !== undefined && role !== "executor"))
    return "driver";
  return role === "executor" ? "executor" : "pod";
};

const attemptOf = (pod: Stored): number =>
  Number(labelOf(pod, attemptLabel) ?? labelOf(pod, "volcano.sh/job-retry-count") ?? 0) || 0;

/** A lane as it is kept: `own` is the reason of the executor's loss that its pod itself shows. */
type Known = Lane & { readonly own?: string };

/** The reason of a loss that the pod of an executor shows; undefined where it shows none, or nobody misses it. */
const ownLoss = (pod: Stored): string | undefined => {
  if (roleOf(pod) !== "executor") return undefined;
  const reason = endingOf(pod)?.reason;
  return reason !== undefined && lossTable[reason].hasEvent ? reason : undefined;
};

const milliOf = (nano: bigint): number => Number(nano / 1_000_000n) / 1_000;

/** The requests of a pod, which never change. */
const needsOf = (pod: Stored): Pick<Lane, "cores" | "gib"> => {
  const spec = fieldsOf(pod.spec);
  if (!Array.isArray(spec["containers"])) return {};
  const requests = requestsOf(spec);
  const nanoOf = (resource: string): bigint => requests.get(resource)?.nano ?? 0n;
  return { cores: milliOf(nanoOf("cpu")), gib: milliOf(nanoOf("memory") / 2n ** 30n) };
};

const laneOf = (pod: Stored, before: Known | undefined): Known => {
  const { up, end, reason, exit } = stateOf(pod);
  const own = ownLoss(pod);
  const requestedAt = instantOf(pod.metadata.creationTimestamp);
  const node = nodeNameOf(pod);
  const flavors = pod.metadata.annotations?.[flavorsKey];
  return {
    ...before,
    ...(before?.cores === undefined ? needsOf(pod) : {}),
    pod: pod.metadata.name,
    role: roleOf(pod),
    id: Number(labelOf(pod, "spark-exec-id") ?? 0) || 0,
    attempt: attemptOf(pod),
    ...(requestedAt === undefined ? {} : { requestedAt }),
    ...(up === undefined ? {} : { up }),
    ...(end === undefined ? {} : { end }),
    ...(node === undefined ? {} : { node }),
    ...(flavors === undefined ? {} : { flavors: short(flavors) }),
    ...(exit === undefined ? {} : { exit }),
    ...(reason === undefined || exit === 0 ? {} : { reason }),
    ...(own === undefined ? {} : { own }),
  };
};

/** True when the driver of the executor's attempt ended before the executor, or in the same second. */
const endedWithDriver = ({ attempt, end = 0 }: Lane, drivers: readonly Lane[]): boolean =>
  drivers.some((driver) => driver.attempt === attempt && driver.end !== undefined && driver.end <= end);

/** The loss that a pod shows before a step has judged it: none of an executor that exited with 0, or with its driver. */
const shownLoss = ({ own, ...lane }: Known, drivers: readonly Lane[]): string | undefined =>
  lane.end === undefined || lane.exit === 0 || endedWithDriver(lane, drivers) ? undefined : own;

/** Marks the executors that were lost: by the record, and before it tells of them by their own pods. */
const marked = (known: readonly Known[], { reasons, attempt: newest }: RecordedEnds): readonly Lane[] => {
  const drivers = known.filter(({ role }) => role === "driver");
  return known.map((one): Lane => {
    const { own: _, ...lane } = one;
    if (lane.role !== "executor") return lane;
    const recorded = reasons.get(`${lane.attempt || newest}/${lane.id}`);
    const loss = recorded === undefined ? shownLoss(one, drivers) : isLoss(recorded) ? recorded : undefined;
    return loss === undefined ? lane : { ...lane, lost: true, reason: loss };
  });
};

type Application = { readonly pods: Map<string, Known>; readonly ends: RecordedEnds };

const nothingKnown = (): Application => ({ pods: new Map(), ends: noEnds });

/** The applications of each namespace, those that changed last at the end, within the namespace's share. */
const openApplications = (most: number) => {
  const share = openShare(most);
  const byNamespace = new Map<string, Map<string, Application>>();
  const sizes = new Map<string, number>();
  const forget = (namespace: string, key: string): void => {
    const own = byNamespace.get(namespace);
    if (own?.delete(key) !== true) return;
    share.give(namespace, sizes.get(key) ?? 0);
    sizes.delete(key);
    if (own.size === 0) byNamespace.delete(namespace);
  };
  /** Makes room for an application by forgetting the oldest others of its namespace; false if there is none. */
  const hasRoom = (namespace: string, size: number): boolean => {
    for (;;) {
      if (share.take(namespace, size)) return true;
      const [oldest] = byNamespace.get(namespace)?.keys() ?? [];
      if (oldest === undefined) return false;
      forget(namespace, oldest);
    }
  };
  return {
    get: (namespace: string, key: string): Application | undefined => byNamespace.get(namespace)?.get(key),
    put: (namespace: string, key: string, application: Application): void => {
      forget(namespace, key);
      const { pods, ends } = application;
      const size = pods.size + ends.losses.length + ends.reasons.size;
      if (size === 0 || !hasRoom(namespace, size)) return;
      const own = byNamespace.get(namespace) ?? new Map<string, Application>();
      byNamespace.set(namespace, own.set(key, application));
      sizes.set(key, size);
    },
    forget,
  };
};

const namespaceIn = (key: string): string => key.split("/")[1] ?? "";

export const openLanes = (most = mostOfAll): Lanes => {
  const known = openApplications(most);
  const take = (pod: Stored, finish: (lane: Known) => Known): string | undefined => {
    const owner = ownerOf(pod);
    if (owner === undefined) return undefined;
    const { namespace } = owner;
    const key = `${owner.kind}/${namespace}/${owner.name}`;
    const application = known.get(namespace, key) ?? nothingKnown();
    const { pods } = application;
    const { uid } = pod.metadata;
    pods.set(uid, finish(laneOf(pod, pods.get(uid))));
    forgetOldest(pods, mostPods);
    known.put(namespace, key, application);
    return key;
  };
  return {
    see: (pod) => take(pod, (lane) => lane),
    gone: (pod, now) => take(pod, (lane) => (lane.end === undefined ? { ...lane, end: now } : lane)),
    recorded: (key, ends) => {
      const namespace = namespaceIn(key);
      known.put(namespace, key, { ...(known.get(namespace, key) ?? nothingKnown()), ends });
    },
    of: (key) => {
      const { pods, ends } = known.get(namespaceIn(key), key) ?? nothingKnown();
      const lanes = marked([...pods.values()], ends);
      return lanes.length === 0 ? [] : withLosses(lanes, ends);
    },
    forget: (key) => known.forget(namespaceIn(key), key),
  };
};

/**
 * Returns the lanes with the reasons of the record's losses. The record names no pod for an executor that was gone
 * before a step saw its end: the executor's id and attempt find its lane. A loss whose pod this process has not seen
 * becomes a lane with only its end.
 */
export const withLosses = (
  lanes: readonly Lane[],
  { losses, attempt }: Pick<RecordedEnds, "losses" | "attempt">,
): readonly Lane[] => {
  const left = new Set(losses.filter(({ reason }) => isLoss(reason)));
  const isOf = (lane: Lane, { pod, id }: RecordedLoss): boolean =>
    pod === "" || lane.isRecorded === true
      ? lane.role === "executor" && lane.id === id && lane.attempt === attempt
      : lane.pod === pod;
  const found = lanes.map((lane): Lane => {
    const loss = [...left].find((one) => isOf(lane, one));
    if (loss === undefined) return lane;
    left.delete(loss);
    const exit = loss.exit ?? lane.exit;
    return {
      ...lane,
      lost: true,
      reason: loss.reason,
      end: lane.end ?? loss.at,
      ...(exit === undefined ? {} : { exit }),
    };
  });
  return [
    ...found,
    ...[...left].map(
      ({ pod, id, at, node, reason, exit }): Lane => ({
        ...{ pod, role: "executor" as const, id, attempt, end: at, reason, lost: true as const },
        ...(node === "" ? {} : { node }),
        ...(exit === undefined ? {} : { exit }),
      }),
    ),
  ];
};
