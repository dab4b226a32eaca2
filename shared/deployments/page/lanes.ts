/**
 * The pods of applications as this process has seen them, also after they are gone: from when they were asked for until
 * they ended. Bounded: of an application the newest, and the applications whose pods changed last.
 */

import { forgetOldest } from "../../core/bounded-map.ts";
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { labelOf, nodeNameOf } from "../../kube/pods.ts";
import { isRecord } from "../../kube/responses.ts";
import type { Lane, LossRow } from "../../page/wire.ts";
import { ownerOf } from "./projection.ts";

/** The most pods of one application, and the most applications, that are remembered. */
const mostPods = 600;
const mostApplications = 2_000;

export type Lanes = {
  /** Takes in a pod. Returns the key text of its application; undefined for a pod of no application. */
  see(pod: Stored): string | undefined;
  /** Takes in a pod's deletion. */
  gone(pod: Stored, now: number): string | undefined;
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
  const status = fieldsOf(pod["status"]);
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
  Number(labelOf(pod, "rekindle.dev/attempt") ?? labelOf(pod, "volcano.sh/job-retry-count") ?? 0) || 0;

const laneOf = (pod: Stored, before: Lane | undefined): Lane => {
  const { up, end, reason, exit } = stateOf(pod);
  const asked = instantOf(pod.metadata.creationTimestamp);
  const node = nodeNameOf(pod);
  return {
    ...before,
    pod: pod.metadata.name,
    role: roleOf(pod),
    id: Number(labelOf(pod, "spark-exec-id") ?? 0) || 0,
    attempt: attemptOf(pod),
    ...(asked === undefined ? {} : { asked }),
    ...(up === undefined ? {} : { up }),
    ...(end === undefined ? {} : { end }),
    ...(node === undefined ? {} : { node }),
    ...(exit === undefined ? {} : { exit }),
    ...(reason === undefined || exit === 0 ? {} : { reason }),
  };
};

export const openLanes = (): Lanes => {
  const known = new Map<string, Map<string, Lane>>();
  const take = (pod: Stored, finish: (lane: Lane) => Lane): string | undefined => {
    const owner = ownerOf(pod);
    if (owner === undefined) return undefined;
    const key = `${owner.kind}/${owner.namespace}/${owner.name}`;
    const pods = known.get(key) ?? new Map<string, Lane>();
    const { uid } = pod.metadata;
    pods.set(uid, finish(laneOf(pod, pods.get(uid))));
    forgetOldest(pods, mostPods);
    known.delete(key);
    known.set(key, pods);
    forgetOldest(known, mostApplications);
    return key;
  };
  return {
    see: (pod) => take(pod, (lane) => lane),
    gone: (pod, now) => take(pod, (lane) => (lane.end === undefined ? { ...lane, end: now } : lane)),
    of: (key) => [...(known.get(key)?.values() ?? [])],
    forget: (key) => void known.delete(key),
  };
};

/**
 * Returns the lanes with the reasons of the record's losses. The record names no pod for an executor that was gone
 * before a step saw its end: the executor's id and attempt find its lane. A loss whose pod this process has not seen
 * becomes a lane with only its end.
 */
export const withLosses = (
  lanes: readonly Lane[],
  losses: readonly (LossRow & { readonly pod: string })[],
  attempt: number,
): readonly Lane[] => {
  const left = new Set(losses.filter(({ reason }) => reason !== "finished"));
  const isOf = (lane: Lane, { pod, id }: LossRow & { readonly pod: string }): boolean =>
    pod === "" ? lane.role === "executor" && lane.id === id && lane.attempt === attempt : lane.pod === pod;
  const marked = lanes.map((lane): Lane => {
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
    ...marked,
    ...[...left].map(
      ({ pod, id, at, node, reason, exit }): Lane => ({
        ...{ pod, role: "executor" as const, id, attempt, end: at, reason, lost: true as const },
        ...(node === "" ? {} : { node }),
        ...(exit === undefined ? {} : { exit }),
      }),
    ),
  ];
};
