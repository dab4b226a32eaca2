/** What a pod says of itself, read at the door: phase, containers and how they ended. */
import * as z from "zod";
import { oncePer } from "../core/memoize.ts";
import type { Obj, Stored } from "../core/object.ts";
import { instantOf } from "../core/time.ts";

const ended = z.looseObject({
  exitCode: z.number(),
  reason: z.string().optional(),
  message: z.string().optional(),
  finishedAt: z.string().nullish(),
});

const container = z.looseObject({
  name: z.string(),
  state: z
    .looseObject({
      terminated: ended.optional(),
      waiting: z.looseObject({ reason: z.string().optional(), message: z.string().optional() }).optional(),
    })
    .optional(),
});

const status = z.looseObject({
  phase: z.string().optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
  startTime: z.string().nullish(),
  podIP: z.string().nullish(),
  containerStatuses: z.array(container).nullish(),
  initContainerStatuses: z.array(container).nullish(),
  conditions: z
    .array(
      z.looseObject({
        type: z.string(),
        status: z.string(),
        reason: z.string().optional(),
        message: z.string().optional(),
        lastTransitionTime: z.string().nullish(),
      }),
    )
    .nullish(),
});

export type PodStatus = z.infer<typeof status>;
export type Terminated = z.infer<typeof ended>;

/** The pod's status; one that does not parse is a pod of which nothing is known. */
export const podStatus = oncePer((pod: Obj): PodStatus => {
  const { data = {} } = status.safeParse(pod["status"] ?? {});
  return data;
});

export const labelOf = (object: Obj, label: string): string | undefined => object.metadata.labels?.[label];

/** All of its containers have ended for good. */
export const isOver = ({ phase }: PodStatus): boolean => phase === "Succeeded" || phase === "Failed";

/** Deletion has begun; the pod may still run through its grace. */
export const isEnding = (object: Obj): boolean => object.metadata.deletionTimestamp !== undefined;

/**
 * When the deletion of an object was requested, epoch ms. A pod's deletionTimestamp is the end of its grace; the API
 * server moves both together when the grace is shortened, so their difference stays the time of the request.
 */
export const deletionAskedAt = ({ metadata }: Obj): number | undefined => {
  const at = instantOf(metadata.deletionTimestamp);
  return at === undefined ? undefined : at - (metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
};

/** How the named container ended, if it did. */
export const terminationOf = (pod: PodStatus, name: string): Terminated | undefined =>
  pod.containerStatuses?.find((one) => one.name === name)?.state?.terminated;

/** The condition of this type, if the pod has it. */
export const conditionOf = ({ conditions }: PodStatus, type: string) => conditions?.find((one) => one.type === type);

/** It runs and is ready, and nobody has told it to go. */
export const isReady = (pod: Obj): boolean => {
  const status = podStatus(pod);
  return status.phase === "Running" && conditionOf(status, "Ready")?.status === "True" && !isEnding(pod);
};

/** Name of the node that the pod is bound to. */
export const nodeNameOf = (pod: Obj): string | undefined => {
  const spec: unknown = pod["spec"];
  if (typeof spec !== "object" || spec === null || !("nodeName" in spec)) return undefined;
  return typeof spec.nodeName === "string" && spec.nodeName !== "" ? spec.nodeName : undefined;
};

/** Why a pod is not running yet, in its own words: the scheduler's, or a container's waiting reason. */
export const waitingReason = (pod: PodStatus): string | undefined => {
  const unscheduled = pod.conditions?.find((one) => one.type === "PodScheduled" && one.status === "False");
  if (unscheduled !== undefined) return [unscheduled.reason, unscheduled.message].filter(Boolean).join(": ");
  const waiting = pod.containerStatuses?.find((one) => one.state?.waiting !== undefined)?.state?.waiting;
  return waiting === undefined ? undefined : [waiting.reason, waiting.message].filter(Boolean).join(": ");
};

/** Ours is what an owner reference with our UID says; a label alone could be anybody's. */
export const ownedBy = (object: Obj, uid: string): boolean =>
  object.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;

/** For people, who see pods by their labels: not what nobody owns, nor what another object of this kind does. */
export const mayBelongTo = ({ metadata: { ownerReferences = [] } }: Obj, kind: string, own: string): boolean =>
  ownerReferences.some((owner) => owner.kind !== kind || owner.uid === own);

/** By name: the same order for everybody who looks. */
export const inOrder = (objects: readonly Stored[]): readonly Stored[] =>
  [...objects].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
