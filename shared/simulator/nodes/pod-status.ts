/** The status of a pod as a kubelet reports it: waiting, running, ended. */

import { hash } from "node:crypto";
import { stamp } from "../storage/clock.ts";
import { at, type Fields, fieldsAt, itemsAt, numberAt, textAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";

/** Spark's names of the main container; a template's own comes last. */
const mains = new Set(["spark-kubernetes-driver", "spark-kubernetes-executor"]);

const nameOf = (container: unknown): string => textAt(container, "name") ?? "";

const containersOf = (pod: Item): readonly unknown[] => itemsAt(pod, "spec", "containers");

/** Whether the container is a main one: in a Spark pod the others go on after its end. */
const isMain = (pod: Item, name: string): boolean => {
  if (pod.metadata.labels?.["spark-role"] === undefined) return true;
  const names = containersOf(pod).map(nameOf);
  return name === (names.find((each) => mains.has(each)) ?? names.at(-1));
};

const idOf = (pod: Item, name: string, run: number): string =>
  `containerd://${hash("sha256", `${pod.metadata.uid}/${name}/${run}`)}`;

const statusOf = (pod: Item, name: string): unknown =>
  itemsAt(pod, "status", "containerStatuses").find((each) => nameOf(each) === name);

/** The number of restarts of the pod's containers. */
export const restartsOf = (pod: Item): number =>
  Math.max(0, ...itemsAt(pod, "status", "containerStatuses").map((each) => numberAt(each, "restartCount") ?? 0));

const addressOf = (pod: Item): string => {
  const digest = Number.parseInt(pod.metadata.uid.slice(0, 8), 16);
  return `10.244.${(digest >>> 8) % 256}.${(digest % 254) + 1}`;
};

const condition = (pod: Item, type: string, holds: boolean, time: string, reason?: string): Fields => {
  const old = itemsAt(pod, "status", "conditions").find((each) => textAt(each, "type") === type);
  const status = holds ? "True" : "False";
  const since = textAt(old, "status") === status ? (textAt(old, "lastTransitionTime") ?? time) : time;
  return { type, status, lastProbeTime: null, lastTransitionTime: since, ...(reason !== undefined && { reason }) };
};

const reported = new Set(["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"]);

const conditionsOf = (pod: Item, own: readonly Fields[]): readonly unknown[] => [
  ...own,
  ...itemsAt(pod, "status", "conditions").filter((each) => !reported.has(textAt(each, "type") ?? "")),
];

const initStatus = (pod: Item, container: unknown, time: string): Fields => ({
  name: nameOf(container),
  state: {
    terminated: {
      exitCode: 0,
      reason: "Completed",
      startedAt: time,
      finishedAt: time,
      containerID: idOf(pod, nameOf(container), 0),
    },
  },
  lastState: {},
  ready: true,
  restartCount: 0,
  image: textAt(container, "image"),
  imageID: `simulated/${textAt(container, "image")}`,
  containerID: idOf(pod, nameOf(container), 0),
  started: false,
});

const placed = (pod: Item, time: string): Fields => ({
  ...fieldsAt(pod, "status"),
  hostIP: "10.0.0.1",
  hostIPs: [{ ip: "10.0.0.1" }],
  startTime: textAt(pod, "status", "startTime") ?? time,
});

/** A waiting pod: for a mount, for an image, or for a restart. */
export const waiting = (pod: Item, now: number, reason: string, message?: string): Item => {
  const time = stamp(now);
  const containerStatuses = containersOf(pod).map((each) => {
    const old = statusOf(pod, nameOf(each));
    return {
      name: nameOf(each),
      state: { waiting: { reason, ...(message !== undefined && { message }) } },
      lastState: fieldsAt(old, "lastState"),
      ready: false,
      restartCount: numberAt(old, "restartCount") ?? 0,
      image: textAt(each, "image"),
      imageID: "",
      started: false,
    };
  });
  const conditions = conditionsOf(pod, [
    condition(pod, "Initialized", true, time),
    condition(pod, "Ready", false, time, "ContainersNotReady"),
    condition(pod, "ContainersReady", false, time, "ContainersNotReady"),
  ]);
  return { ...pod, status: { ...placed(pod, time), conditions, containerStatuses } };
};

const wasStopped = (pod: Item): boolean =>
  itemsAt(pod, "status", "containerStatuses").some((each) => at(each, "lastState", "terminated") !== undefined);

/** A pod with all containers running. */
export const running = (pod: Item, now: number): Item => {
  const time = stamp(now);
  const run = restartsOf(pod) + (wasStopped(pod) ? 1 : 0);
  const podIP = addressOf(pod);
  const inits = itemsAt(pod, "spec", "initContainers");
  const containerStatuses = containersOf(pod).map((each) => ({
    name: nameOf(each),
    state: { running: { startedAt: time } },
    lastState: fieldsAt(statusOf(pod, nameOf(each)), "lastState"),
    ready: true,
    restartCount: run,
    image: textAt(each, "image"),
    imageID: `simulated/${textAt(each, "image")}`,
    containerID: idOf(pod, nameOf(each), run),
    started: true,
  }));
  const up = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"];
  return {
    ...pod,
    status: {
      ...placed(pod, time),
      phase: "Running",
      conditions: conditionsOf(
        pod,
        up.map((type) => condition(pod, type, true, time)),
      ),
      podIP,
      podIPs: [{ ip: podIP }],
      ...(inits.length > 0 && { initContainerStatuses: inits.map((each) => initStatus(pod, each, time)) }),
      containerStatuses,
    },
  };
};

export type Exit = { readonly code: number; readonly reason?: string | undefined };

const terminated = (pod: Item, name: string, now: number, { code, reason }: Exit): Fields => {
  const old = statusOf(pod, name);
  return {
    exitCode: code,
    reason: reason ?? (code === 0 ? "Completed" : "Error"),
    startedAt: textAt(old, "state", "running", "startedAt") ?? stamp(now),
    finishedAt: stamp(now),
    containerID: textAt(old, "containerID") ?? "",
  };
};

const ends = (pod: Item, container: unknown, all: boolean): boolean => all || isMain(pod, nameOf(container));

const endedStatus = (pod: Item, container: unknown, now: number, exit: Exit): Fields => {
  const name = nameOf(container);
  const old = fieldsAt(statusOf(pod, name));
  const over = at(old, "state", "terminated");
  return {
    name,
    restartCount: 0,
    image: textAt(container, "image"),
    imageID: "",
    lastState: {},
    ...old,
    state: { terminated: over ?? terminated(pod, name, now, exit) },
    ready: false,
    started: false,
  };
};

/** A pod whose main container has ended; with `all` the other containers end, too. */
export const ended = (pod: Item, now: number, exit: Exit, all: boolean): Item => {
  const time = stamp(now);
  const goOn = containersOf(pod).some((each) => !ends(pod, each, all));
  const containerStatuses = containersOf(pod).map((each) =>
    ends(pod, each, all) ? endedStatus(pod, each, now, exit) : fieldsAt(statusOf(pod, nameOf(each))),
  );
  const failed = containerStatuses.some((each) => (numberAt(each, "state", "terminated", "exitCode") ?? 0) !== 0);
  const reason = failed ? "PodFailed" : "PodCompleted";
  const conditions = conditionsOf(pod, [
    condition(pod, "PodReadyToStartContainers", goOn, time),
    condition(pod, "Initialized", true, time, goOn || failed ? undefined : "PodCompleted"),
    condition(pod, "Ready", false, time, goOn ? "ContainersNotReady" : reason),
    condition(pod, "ContainersReady", false, time, goOn ? "ContainersNotReady" : reason),
  ]);
  const over = failed ? "Failed" : "Succeeded";
  return {
    ...pod,
    status: { ...fieldsAt(pod, "status"), phase: goOn ? "Running" : over, conditions, containerStatuses },
  };
};

/** A pod with the condition DisruptionTarget: its end is not its own failure. */
export const disrupted = (pod: Item, now: number, reason: string, message?: string): Item => {
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    lastProbeTime: null,
    lastTransitionTime: stamp(now),
    reason,
    ...(message !== undefined && { message }),
  };
  const status = fieldsAt(pod, "status");
  return { ...pod, status: { ...status, conditions: [...itemsAt(status, "conditions"), condition] } };
};

/** A pod that the kubelet evicted for want of resources. */
export const evicted = (pod: Item, now: number): Item => {
  const down = disrupted(ended(pod, now, { code: 137 }, true), now, "TerminationByKubelet");
  const eviction = { phase: "Failed", reason: "Evicted", message: "The node was low on resource: memory." };
  return { ...down, status: { ...fieldsAt(down, "status"), ...eviction } };
};

/** A pod whose containers ended and wait for the restart of their policy. */
export const backingOff = (pod: Item, now: number, exit: Exit): Item => {
  const held = waiting(pod, now, "CrashLoopBackOff", "back-off restarting failed container");
  const containerStatuses = itemsAt(held, "status", "containerStatuses").map((each) => ({
    ...fieldsAt(each),
    lastState: { terminated: terminated(pod, nameOf(each), now, exit) },
    restartCount: restartsOf(pod),
  }));
  return { ...held, status: { ...fieldsAt(held, "status"), containerStatuses } };
};

export const phaseOf = (pod: Item): string => textAt(pod, "status", "phase") ?? "Pending";
export const isOver = (pod: Item): boolean => phaseOf(pod) === "Succeeded" || phaseOf(pod) === "Failed";

/** The end, epoch ms, of a task that takes `busyMs` and began with the pod's container. */
export const busyUntil = (pod: Item, busyMs: number): number =>
  Date.parse(textAt(itemsAt(pod, "status", "containerStatuses")[0], "state", "running", "startedAt") ?? "") + busyMs;

export const isUp = (pod: Item): boolean =>
  phaseOf(pod) === "Running" &&
  itemsAt(pod, "status", "containerStatuses").some((each) => at(each, "state", "running") !== undefined);

/** The exit of the main container, though others may run on; undefined while it runs. */
export const mainExit = (pod: Item): Exit | undefined => {
  const main = itemsAt(pod, "status", "containerStatuses").find((each) => isMain(pod, nameOf(each)));
  const code = numberAt(main, "state", "terminated", "exitCode");
  return code === undefined ? undefined : { code, reason: textAt(main, "state", "terminated", "reason") };
};
