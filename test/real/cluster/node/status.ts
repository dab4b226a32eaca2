/**
 * A pod's status from the state of its containers: phases, conditions and container statuses as a kubelet writes them.
 */
import { secondsNow, type Tracked } from "./context.ts";
import type { Condition, ContainerStatus, Pod, PodStatus } from "./objects.ts";

export type Seen = {
  readonly pod: Pod;
  readonly tracked: readonly Tracked[];
  readonly startTime: string;
  readonly podIP: string | undefined;
  readonly hostIP: string;
  /** Set when no container will run again. */
  readonly end:
    | { readonly phase: "Succeeded" | "Failed"; readonly reason?: string; readonly message?: string }
    | undefined;
};

export const statusOf = (one: Tracked): ContainerStatus => ({
  name: one.spec.name,
  state: one.state,
  lastState: one.last === undefined ? {} : { terminated: one.last },
  ready: one.role === "init" ? "terminated" in one.state && one.state.terminated.exitCode === 0 : one.ready,
  started: one.started,
  restartCount: one.restarts,
  image: one.spec.image,
  imageID: one.imageID,
  ...(one.containerID === undefined ? {} : { containerID: one.containerID }),
});

const isRunning = (one: Tracked): boolean => "running" in one.state;

/** True if it started at least once: it runs, waits for a restart, or has ended. */
const hasRun = (one: Tracked): boolean => isRunning(one) || "terminated" in one.state || one.last !== undefined;

export const isInitialized = (tracked: readonly Tracked[]): boolean =>
  tracked.every(
    (one) =>
      one.role === "main" ||
      (one.role === "sidecar" ? one.started : "terminated" in one.state && one.state.terminated.exitCode === 0),
  );

const phaseOf = ({ end, tracked }: Seen): string => {
  if (end !== undefined) return end.phase;
  const mains = tracked.filter(({ role }) => role === "main");
  return mains.every(hasRun) ? "Running" : "Pending";
};

type Known = Pick<Condition, "status" | "reason" | "message">;
const good: Known = { status: "True", reason: null, message: null };

const initialized = ({ tracked, end }: Seen): Known => {
  if (end?.phase === "Succeeded") return { status: "True", reason: "PodCompleted", message: null };
  if (isInitialized(tracked)) return good;
  const open = tracked.filter((one) => one.role !== "main" && !isInitialized([one])).map(({ spec }) => spec.name);
  return {
    status: "False",
    reason: "ContainersNotInitialized",
    message: `containers with incomplete status: [${open.join(" ")}]`,
  };
};

const readiness = ({ tracked, end }: Seen): Known => {
  if (end !== undefined)
    return { status: "False", reason: end.phase === "Succeeded" ? "PodCompleted" : "PodFailed", message: null };
  const unready = tracked.filter(({ role, ready }) => role !== "init" && !ready).map(({ spec }) => spec.name);
  if (unready.length === 0) return good;
  const message = `containers with unready status: [${unready.join(" ")}]`;
  return { status: "False", reason: "ContainersNotReady", message };
};

const conditionsOf = (seen: Seen, before: readonly Condition[]): Condition[] => {
  const ready = readiness(seen);
  const isUp = seen.podIP !== undefined && seen.end === undefined;
  const all: readonly (readonly [string, Known])[] = [
    ["PodReadyToStartContainers", isUp ? good : { status: "False", reason: null, message: null }],
    ["Initialized", initialized(seen)],
    ["Ready", ready],
    ["ContainersReady", ready],
    ["PodScheduled", good],
  ];
  return all.map(([type, known]) => {
    const old = before.find((condition) => condition.type === type);
    const same = old !== undefined && old.status === known.status && old.lastTransitionTime;
    return { type, ...known, lastTransitionTime: same ? (old.lastTransitionTime ?? null) : secondsNow() };
  });
};

/** Without it a strategic merge would keep the addresses of an earlier start. */
const instead = { $patch: "replace" } as const;

export const podStatusOf = (seen: Seen, before: readonly Condition[]): PodStatus => {
  const inits = seen.tracked.filter(({ role }) => role !== "main");
  const mains = seen.tracked.filter(({ role }) => role === "main");
  const address = seen.podIP === undefined ? {} : { podIP: seen.podIP, podIPs: [instead, { ip: seen.podIP }] };
  return {
    phase: phaseOf(seen),
    reason: seen.end?.reason ?? null,
    message: seen.end?.message ?? null,
    startTime: seen.startTime,
    hostIP: seen.hostIP,
    hostIPs: [instead, { ip: seen.hostIP }],
    ...address,
    conditions: conditionsOf(seen, before),
    ...(inits.length === 0 ? {} : { initContainerStatuses: inits.map(statusOf) }),
    containerStatuses: mains.map(statusOf),
  };
};
