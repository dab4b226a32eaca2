/**
 * Executors whose node may be dead. A running pod that is not ready causes a read of its node. A node that is certainly
 * gone differs from a silent one, on which processes may still run.
 */
import * as z from "zod";
import type { Ref, Stored } from "../../core/object.ts";
import type { ProbeResult } from "../../core/plan.ts";
import { instantOf } from "../../core/time.ts";
import { conditionOf, disruptionOf, isEnding, podStatus } from "../../kube/pods.ts";
import { nodes } from "../../kube/resources.ts";
import { endingOf } from "./losses.ts";

/** `gone`: deleted, or marked out of service by an operator. `hidden`: Rekindle may not read nodes. */
export type NodeState =
  | { readonly is: "answers" | "gone" | "hidden" }
  | { readonly is: "silent"; readonly since: number };

export const nodeRef = (name: string): Ref => ({ resource: nodes, name });

const outOfService = "node.kubernetes.io/out-of-service";

const shape = z.looseObject({
  spec: z.looseObject({ taints: z.array(z.looseObject({ key: z.string() })).nullish() }).optional(),
  status: z
    .looseObject({
      conditions: z
        .array(z.looseObject({ type: z.string(), status: z.string(), lastTransitionTime: z.string().nullish() }))
        .nullish(),
    })
    .optional(),
});

/** The state of a node by its read; times are the cluster's own. */
export const nodeStateOf = (hearing: ProbeResult): NodeState => {
  if (!hearing.heard) return { is: "hidden" };
  if (hearing.value === undefined) return { is: "gone" };
  const parsed = shape.safeParse(hearing.value);
  if (!parsed.success) return { is: "hidden" };
  const { spec, status } = parsed.data;
  if (spec?.taints?.some(({ key }) => key === outOfService) === true) return { is: "gone" };
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.status === "True") return { is: "answers" };
  const since = instantOf(ready.lastTransitionTime);
  return since === undefined ? { is: "answers" } : { is: "silent", since };
};

/** True of a pod that ran, and of which its node reports neither that it runs nor that it ended. */
export const isSuspect = (pod: Stored): boolean => {
  const status = podStatus(pod);
  return status.phase === "Running" && endingOf(pod) === undefined && conditionOf(status, "Ready")?.status === "False";
};

/** Where nodes are hidden: true when the node controller gave the pod up, and its node did not end it in its grace. */
export const isGivenUp = (pod: Stored, now: number): boolean => {
  const until = instantOf(pod.metadata.deletionTimestamp);
  return until !== undefined && until < now && isEnding(pod) && disruptionOf(podStatus(pod)) === "node";
};

/** True of a pod with a claim, to which it may still write: it is not replaced while its node is only silent. */
export const holdsClaims = (pod: Stored): boolean => {
  const spec: unknown = pod["spec"];
  if (typeof spec !== "object" || spec === null || !("volumes" in spec) || !Array.isArray(spec.volumes)) return false;
  return spec.volumes.some(
    (volume: unknown) =>
      typeof volume === "object" && volume !== null && ("persistentVolumeClaim" in volume || "ephemeral" in volume),
  );
};

/** The fate of an executor: freed now, at a time (epoch ms), when its node is certainly gone, or not at all. */
export type Fate =
  | { readonly is: "free"; readonly why: string }
  | { readonly is: "wait"; readonly until: number }
  /** The node could not be read: it is read again. */
  | { readonly is: "ask" }
  | { readonly is: "bound" | "none" };

/** Time, ms, for which the node of an unready pod is read though hidden; by then the node controller has acted. */
const askedMs = 600_000;

const isNews = (pod: Stored, now: number): boolean => {
  const since = instantOf(conditionOf(podStatus(pod), "Ready")?.lastTransitionTime);
  return isSuspect(pod) && since !== undefined && now < since + askedMs;
};

type Bearing = { readonly now: number; readonly graceMs: number; readonly waits: boolean };

/** node's state × pod → fate. */
export const fateOf = (pod: Stored, state: NodeState, { now, graceMs, waits }: Bearing): Fate => {
  switch (state.is) {
    case "answers":
      return { is: "none" };
    case "gone":
      return { is: "free", why: "its node is gone" };
    case "hidden":
      if (isGivenUp(pod, now)) return { is: "free", why: "its node was given up, and did not end it" };
      return { is: isNews(pod, now) ? "ask" : "none" };
    case "silent":
      if (waits || holdsClaims(pod)) return { is: "bound" };
      if (now < state.since + graceMs) return { is: "wait", until: state.since + graceMs };
      return { is: "free", why: "its node does not answer" };
  }
};
