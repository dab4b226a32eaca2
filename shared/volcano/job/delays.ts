/** Delayed actions: armed by events, cancelled, and taken when due. */
import type { Action } from "../schema/words.ts";
import type { Delay, Memory } from "./memory.ts";
import type { Member } from "./pods.ts";
import type { PolicyEvent } from "./policy-events.ts";

/** The target of an action: a pod, a task, a partition of one, or the whole job. */
export type ActionTarget = {
  readonly task: string;
  readonly index?: number | undefined;
  readonly partition?: string | undefined;
};

const isSame = (a: ActionTarget, b: ActionTarget): boolean => a.task === b.task && a.index === b.index;

/** An action that an event delays. `dueAt` in epoch ms. */
export type Arm = {
  readonly happening: PolicyEvent;
  readonly action: Action;
  readonly delayMs: number;
  readonly dueAt: number;
};

const placeOf = ({ task, index }: ActionTarget): string => `${task}/${index ?? ""}`;

const delayOf = ({ happening, action, dueAt }: Arm): Delay => {
  const { event, task, index, partition, disrupted } = happening;
  return {
    ...{ event, action, task },
    ...(index === undefined ? {} : { index }),
    ...(partition === undefined ? {} : { partition }),
    ...(disrupted === undefined ? {} : { disrupted }),
    dueAt,
  };
};

/** Adds delays. A second delay of one pod, task or job replaces the first only if its action differs. */
export const armed = (delays: readonly Delay[], arms: readonly Arm[]): Delay[] => {
  const places = new Map(delays.map((delay) => [placeOf(delay), delay]));
  for (const arm of arms) {
    const place = placeOf(arm.happening);
    if (places.get(place)?.action === arm.action) continue;
    places.delete(place);
    places.set(place, delayOf(arm));
  }
  return [...places.values()];
};

const mended: readonly string[] = ["PodFailed", "PodEvicted"];

/** Cancels the delays for failed or evicted pods that run again. */
export const recovered = (delays: readonly Delay[], members: readonly Member[]): Delay[] => {
  const running = members.filter(({ phase, ending }) => phase === "Running" && !ending);
  return delays.filter(
    (one) => !mended.includes(one.event) || !running.some(({ task, index }) => isSame(one, { task, index })),
  );
};

type Level = "job" | "task" | "pod" | "partition";

const levels: Readonly<Partial<Record<Action, Level>>> = {
  RestartTask: "task",
  RestartPod: "pod",
  RestartPartition: "partition",
};

const levelOf = (action: Action): Level => levels[action] ?? "job";

/** True if the action concerns the whole job, whichever pod its event is about. */
export const isOfJob = (action: Action): boolean => levelOf(action) === "job";

const reaches: Readonly<Record<Level, (one: ActionTarget, target: ActionTarget) => boolean>> = {
  job: () => true,
  task: (one, target) => one.task === target.task,
  pod: isSame,
  partition: (one, target) => one.task === target.task && one.partition === target.partition,
};

/** Cancels the delays of the same level that an action has made superfluous. */
export const superseded = (delays: readonly Delay[], action: Action, target: ActionTarget): Delay[] => {
  const level = levelOf(action);
  return delays.filter((one) => levelOf(one.action) !== level || !reaches[level](one, target));
};

/** Returns the earliest delay that is due. */
export const dueOf = ({ delays }: Memory, now: number): Delay | undefined =>
  [...delays].sort((a, b) => a.dueAt - b.dueAt).find(({ dueAt }) => dueAt <= now);
