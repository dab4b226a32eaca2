/** Why the platform took a pod: read from the condition DisruptionTarget, else from the reason of its status. */
import type { PodStatus } from "./pods.ts";

export type Disruption = "preempted" | "evicted" | "node";

const byReason: Readonly<Record<string, Disruption>> = {
  PreemptionByScheduler: "preempted",
  PreemptionByKubeScheduler: "preempted",
  Preempting: "preempted",
  Preempted: "preempted",
  EvictionByEvictionAPI: "evicted",
  DeletionByTaintManager: "node",
  DeletionByPodGC: "node",
  TerminationByKubelet: "evicted",
  Evicted: "evicted",
  NodeLost: "node",
  NodeShutdown: "node",
  NodeAffinity: "node",
  Terminated: "node",
  Shutdown: "node",
  UnexpectedAdmissionError: "node",
  OutOfcpu: "node",
  OutOfmemory: "node",
  OutOfpods: "node",
};

const conditionReason = ({ conditions }: PodStatus): string =>
  conditions?.find(({ type, status }) => type === "DisruptionTarget" && status === "True")?.reason ?? "";

/** By its condition: whoever took the pod has said so. */
export const disruptionOf = (status: PodStatus): Disruption | undefined => byReason[conditionReason(status)];

/** By the reason of its status, which the kubelet and the node's keeper write. */
export const statusDisruption = ({ reason }: PodStatus): Disruption | undefined => byReason[reason ?? ""];
