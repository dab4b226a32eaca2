/** The reason why the platform took a pod: from the condition DisruptionTarget, else from the status's reason. */
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

/** Reads the condition, which the component that disrupts the pod writes. */
export const disruptionOf = (status: PodStatus): Disruption | undefined => byReason[conditionReason(status)];

/** Reads the reason of the status, which the kubelet and the node lifecycle controller write. */
export const statusDisruption = ({ reason }: PodStatus): Disruption | undefined => byReason[reason ?? ""];
