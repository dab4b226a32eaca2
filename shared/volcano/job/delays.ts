/** Actions that wait for their time: which are armed, which are called off, and whose time has come. */
import type { Action } from "../schema/words.ts";
import type { Delay, Memory } from "./memory.ts";
import type { Member } from "./pods.ts";
import type { PolicyEvent } from "./policy-events.ts";

/** What an action is about: a pod, a task, a partition of one, or the whole job. */
export type Target = {
  readonly task: string;
  readonly index?: number | undefined;
  readonly partition?: string | undefined;
};

const isSame = (a: Target, b: Target): boolean => a.task === b.task && a.index === b.index;

/** An action that is to wait for its time because of an event. `dueAt` in epoch ms. */
export type Arm = {
  readonly happening: PolicyEvent;
  readonly action: Action;
  readonly delayMs: number;
  readonly dueAt: number;
};

const placeOf = ({ task, index }: Target): string => `${task}/${index ?? ""}`;

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

/** Of two for the same pod, task or job that would do the same, the first holds; one that would do another is replaced. */
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

/** What waited for a pod to come back is called off when it runs. */
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

/** It is about the whole job, whichever pod it is for. */
export const isOfJob = (action: Action): boolean => levelOf(action) === "job";

const reaches: Readonly<Record<Level, (one: Target, target: Target) => boolean>> = {
  job: () => true,
  task: (one, target) => one.task === target.task,
  pod: isSame,
  partition: (one, target) => one.task === target.task && one.partition === target.partition,
};

/** An action that was taken calls off those of its own level that would reach the same. */
export const superseded = (delays: readonly Delay[], action: Action, target: Target): Delay[] => {
  const level = levelOf(action);
  return delays.filter((one) => levelOf(one.action) !== level || !reaches[level](one, target));
};

/** The first whose time has come. */
export const dueOf = ({ delays }: Memory, now: number): Delay | undefined =>
  [...delays].sort((a, b) => a.dueAt - b.dueAt).find(({ dueAt }) => dueAt <= now);
