/** Executors that do not come up: what hinders a pod, and how long Rekindle waits for it. */

import type { Stored } from "../../core/object.ts";
import { backoffOf, instantOf } from "../../core/time.ts";
import { conditionOf, isEnding, nodeNameOf, type PodStatus, podStatus, waitingReason } from "../../kube/pods.ts";

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

export type Held = {
  readonly by: Hindrance;
  /** The platform's message. */
  readonly says: string;
  /** The pod itself shows an error; else it is only slow. */
  readonly plain: boolean;
};

const waitsFor = ({ containerStatuses }: PodStatus): string | undefined =>
  containerStatuses?.find(({ state }) => state?.waiting !== undefined)?.state?.waiting?.reason;

/** The hindrance of a pod; undefined for one that runs, has ended, is being deleted, or is gated on purpose. */
export const heldBy = (pod: Stored): Held | undefined => {
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
export const waitLimitMs = (times: number, leastMs: number, mostMs: number): number =>
  backoffOf(times, leastMs, Math.max(leastMs, mostMs));

export type Stuck = {
  /** Pods that are hindered for too long, by id. */
  readonly late: readonly { readonly pod: Stored; readonly held: Held }[];
  /** The time when the next one with an error is late, epoch ms. */
  readonly next: number | undefined;
};

/** Finds the pods that are hindered for too long. `timed`: a timer also waits for those that are only slow. */
export const stuckAmong = (
  pods: readonly Stored[],
  { now, limitMs, timed }: { readonly now: number; readonly limitMs: number; readonly timed: boolean },
): Stuck => {
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
