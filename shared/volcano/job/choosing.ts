/** Which one action a step takes: what has become due, else the first event that leads to one; everything else is a sync. */
import type { Action } from "../schema/words.ts";
import { armed, dueOf, recovered, type Target } from "./delays.ts";
import { type Happening, happeningsOf } from "./happenings.ts";
import { moveFor } from "./machine.ts";
import type { Memory } from "./memory.ts";
import { changed, ofTask } from "./ordinals.ts";
import { actionFor } from "./policies.ts";
import type { Scene } from "./scene.ts";

export type Chosen = {
  readonly memory: Memory;
  readonly action: Action;
  readonly target: Target;
  /** Absent for a sync that nothing led to. */
  readonly because?: { readonly event: string; readonly exitCodes: readonly number[] };
  /** What must be asked again before the action is taken. */
  readonly witness?: Happening["witness"];
  /** When a pod will have waited for too long, epoch ms. */
  readonly wakeAt?: number;
};

const job: Target = { task: "" };

/** Policies are asked where pods are kept as the spec says; nowhere else does anything come of them. */
const listens = ({ memory }: Scene): boolean => moveFor(memory.phase, "SyncJob").pods === "sync";

const including = (sets: Memory["failed"], task: string, index: number): Memory["failed"] => ({
  ...sets,
  ...changed(new Map([[task, [...ofTask(sets, task), index]]])),
});

const excluding = (sets: Memory["seen"], task: string, index: number): Memory["seen"] => {
  const { [task]: _, ...rest } = sets;
  const left = [...ofTask(sets, task)].filter((one) => one !== index);
  return { ...rest, ...changed(new Map([[task, left]])) };
};

/** What has happened is an event no more. A pod that waits stays one, until it has been waited for. */
const noted = (memory: Memory, { event, task, index = 0 }: Happening, { group }: Scene): Memory => {
  switch (event) {
    case "PodFailed":
      return { ...memory, failed: including(memory.failed, task, index) };
    case "PodEvicted":
      return { ...memory, seen: excluding(memory.seen, task, index) };
    case "TaskCompleted":
      return { ...memory, completed: [...memory.completed, task] };
    case "TaskFailed":
      return { ...memory, exhausted: [...memory.exhausted, task] };
    case "Unknown":
      return group === undefined ? memory : { ...memory, unknown: group.metadata.uid };
    case "PodPending":
      return memory;
  }
};

const answerTo = ({ object, spec, memory }: Scene, { event, task, exitCodes }: Happening) =>
  actionFor({ uid: object.metadata.uid, version: memory.version, spec }, { event, task, exitCodes });

const earlier = (a: number | undefined, b: number): number => (a === undefined ? b : Math.min(a, b));

const overdueOf = (scene: Scene, memory: Memory): Chosen | undefined => {
  const due = dueOf(memory, scene.view.now);
  if (due === undefined) return undefined;
  const delays = memory.delays.filter((one) => one !== due);
  const because = { event: due.event, exitCodes: [] };
  return { memory: { ...memory, delays }, action: due.action, target: due, because };
};

/** What one event means now: an action, one that waits, a moment to look again, or nothing. */
type Verdict =
  | { readonly does: "nothing" }
  | { readonly does: "waits"; readonly until: number }
  | { readonly does: "arms"; readonly action: Action; readonly dueAt: number }
  | { readonly does: "acts"; readonly action: Action };

/** A pod waits from when it was made, an event from now. */
const verdictOf = (scene: Scene, happening: Happening): Verdict => {
  const { now } = scene.view;
  const { action, delayMs, by } = answerTo(scene, happening);
  if (by === "none") return { does: "nothing" };
  if (happening.event !== "PodPending")
    return delayMs > 0 ? { does: "arms", action, dueAt: now + delayMs } : { does: "acts", action };
  const until = happening.at + delayMs;
  return until > now ? { does: "waits", until } : { does: "acts", action };
};

const choiceOf = (memory: Memory, happening: Happening, action: Action): Chosen => {
  const { event, exitCodes, witness } = happening;
  return {
    memory,
    action,
    target: happening,
    because: { event, exitCodes },
    ...(witness === undefined ? {} : { witness }),
  };
};

/** Goes through what has happened until something is to be done about it. */
export const chosen = (scene: Scene): Chosen => {
  let memory: Memory = { ...scene.memory, delays: recovered(scene.memory.delays, scene.members) };
  if (!listens(scene)) return { memory, action: "SyncJob", target: job };
  const due = overdueOf(scene, memory);
  if (due !== undefined) return due;
  let wakeAt: number | undefined;
  for (const happening of happeningsOf(scene)) {
    const verdict = verdictOf(scene, happening);
    memory = noted(memory, happening, scene);
    if (verdict.does === "acts") return choiceOf(memory, happening, verdict.action);
    if (verdict.does === "waits") wakeAt = earlier(wakeAt, verdict.until);
    if (verdict.does === "arms")
      memory = { ...memory, delays: armed(memory.delays, happening, verdict.action, verdict.dueAt) };
  }
  return { memory, action: "SyncJob", target: job, ...(wakeAt === undefined ? {} : { wakeAt }) };
};
