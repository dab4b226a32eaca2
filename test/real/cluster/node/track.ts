/** A pod's containers when the agent first reads it: new, or left by an agent that was killed. */
import { type Role, secondsNow, type Tracked } from "./context.ts";
import type { Container, ContainerStatus, Pod, Terminated } from "./objects.ts";

const statusesOf = (pod: Pod): readonly ContainerStatus[] => [
  ...(pod.status?.initContainerStatuses ?? []),
  ...(pod.status?.containerStatuses ?? []),
];

/** True if an earlier agent started a container; its processes ended with that agent. */
export const wasRunning = (pod: Pod): boolean =>
  statusesOf(pod).some(({ state, restartCount }) => "running" in state || "terminated" in state || restartCount > 0);

const lost = (): Terminated => ({
  exitCode: 137,
  reason: "ContainerStatusUnknown",
  message: "The container could not be located when the pod was terminated",
  finishedAt: secondsNow(),
});

const lastEnd = (before: ContainerStatus | undefined): Terminated | undefined => {
  if (before === undefined) return undefined;
  if ("terminated" in before.state) return before.state.terminated;
  if ("running" in before.state) return lost();
  return "terminated" in before.lastState ? before.lastState.terminated : undefined;
};

const trackOne = (pod: Pod, spec: Container, role: Role): Tracked => {
  const before = statusesOf(pod).find(({ name }) => name === spec.name);
  const last = lastEnd(before);
  const staysDown = (pod.spec.restartPolicy ?? "Always") === "Never" && last !== undefined;
  const hasInits = (pod.spec.initContainers ?? []).length > 0;
  const reason = hasInits ? "PodInitializing" : "ContainerCreating";
  return {
    spec,
    role,
    state: staysDown ? { terminated: last } : { waiting: { reason } },
    last: staysDown ? undefined : last,
    restarts: (before?.restartCount ?? 0) + (staysDown || last === undefined ? 0 : 1),
    ready: false,
    started: false,
    imageID: before?.imageID ?? "",
    containerID: before?.containerID,
    running: undefined,
  };
};

export const track = (pod: Pod): Tracked[] => [
  ...(pod.spec.initContainers ?? []).map((spec) =>
    trackOne(pod, spec, spec.restartPolicy === "Always" ? "sidecar" : "init"),
  ),
  ...pod.spec.containers.map((spec) => trackOne(pod, spec, "main")),
];
