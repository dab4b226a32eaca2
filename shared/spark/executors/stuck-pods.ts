/** Executors that do not come up: what holds a pod up, and how long that is borne. */
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { conditionOf, isEnding, nodeNameOf, type PodStatus, podStatus, waitingReason } from "../../kube/pods.ts";

/** What keeps a pod from starting. `volume` also stands for all that a node does before it makes containers, in silence. */
export const hindrances = ["unschedulable", "imagePull", "config", "volume"] as const;
export type Hindrance = (typeof hindrances)[number];

/** Reasons of a waiting container, as the kubelet has them. */
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
  /** In the platform's words. */
  readonly says: string;
  /** The pod itself says that something is wrong; else it is only slow. */
  readonly plain: boolean;
};

const waitsFor = ({ containerStatuses }: PodStatus): string | undefined =>
  containerStatuses?.find(({ state }) => state?.waiting !== undefined)?.state?.waiting?.reason;

/** What holds up a pod; undefined for one that is up, over, going, or gated: somebody wants that one to wait. */
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

/** How long pods are borne when so many times in a row some had to be deleted, ms. */
export const patienceMs = (times: number, leastMs: number, mostMs: number): number =>
  Math.min(Math.max(leastMs, mostMs), leastMs * 2 ** Math.min(times, 30));

export type Stuck = {
  /** Held up for too long, by the order of their ids. */
  readonly late: readonly { readonly pod: Stored; readonly held: Held }[];
  /** When the next one will be that says what is wrong with it, epoch ms. */
  readonly next: number | undefined;
};

/** Tells those that are held up for too long. `timed`: also those that are only slow are waited for by the clock. */
export const stuckAmong = (
  pods: readonly Stored[],
  { now, patience, timed }: { readonly now: number; readonly patience: number; readonly timed: boolean },
): Stuck => {
  const held = pods.flatMap((pod) => {
    const by = heldBy(pod);
    const since = instantOf(pod.metadata.creationTimestamp);
    return by === undefined || since === undefined ? [] : [{ pod, held: by, due: since + patience }];
  });
  const waiting = held.filter(({ due, held: { plain } }) => due > now && (plain || timed)).map(({ due }) => due);
  return {
    late: held.filter(({ due }) => due <= now),
    next: waiting.length === 0 ? undefined : waiting.reduce((a, b) => Math.min(a, b)),
  };
};
