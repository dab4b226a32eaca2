/** The wait of a job after a step, and whether another step comes at once. */

import type { Next } from "../../core/plan.ts";
import { until, type WaitingOn } from "../../core/waiting-on.ts";
import { waitingOrders } from "../command/order.ts";
import { tasksOf } from "../schema/spec.ts";
import { deadlineOf } from "./annotation-actions.ts";
import { heldUntil } from "./backoff.ts";
import { isHeld, type JobContext, tallied } from "./context.ts";
import { expiryOf } from "./expiry.ts";
import { isFinished, moveFor } from "./machine.ts";
import { shownPhase } from "./memory.ts";
import { ofTask } from "./ordinals.ts";
import { phaseAfter } from "./phase-rules.ts";
import { isOver } from "./pods.ts";
import { isAdmitted } from "./sync.ts";

export const pollMs = 15_000;

export type Asked = {
  /** When something is due, epoch ms. */
  readonly wakeAt?: number;
  /** There are events still to be acted on. */
  readonly more?: boolean;
};

const earliest = (...instants: readonly (number | undefined)[]): number | undefined => {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
};

/** True if a command is still to be taken. */
const isOrdered = ({ orders, memory }: JobContext): boolean => waitingOrders(orders, memory.commands).length > 0;

/** True if an eviction is still to become an event. */
const hasMore = ({ memory, members, spec }: JobContext): boolean =>
  tasksOf(spec).some(({ name = "" }) => {
    const there = new Set(members.filter(({ task }) => task === name).map(({ index }) => index));
    return [...ofTask(memory.seen, name)].some((index) => !there.has(index));
  });

/** True if the pods lead on from a phase that the status had to show first; no further event would bring that step. */
const leadsOn = (scene: JobContext): boolean => {
  const { memory, spec, object } = scene;
  if (shownPhase(object) === memory.phase) return false;
  const counts = { spec, retryCount: memory.retryCount, tally: tallied(scene), held: isHeld(scene) };
  return phaseAfter(memory.phase, moveFor(memory.phase, "SyncJob"), counts) !== memory.phase;
};

const waitsFor = (scene: JobContext): WaitingOn => {
  const { memory, members } = scene;
  if (members.some((member) => member.ending || isOver(member, memory))) return until("pods", "ended");
  if (isHeld(scene))
    return memory.phase === "Restarting" ? until("its wait before the restart", "ended") : { on: "resumption" };
  if (!isAdmitted(scene)) return until("its group", "admittedByScheduler");
  return memory.phase === "Running" ? until("its pods", "finished") : until("its pods", "started");
};

type Waits = Extract<Next, { do: "rest" | "wait" | "again" }>;

/** The wait of a finished job: its time to live, or rest. */
const afterEnd = (scene: JobContext, busy: boolean, ending: boolean): Waits => {
  const due = expiryOf(scene.spec, scene.memory);
  if (busy) return { do: "again" };
  if (ending) return { do: "wait", pollMs, waitsFor: until("its remaining objects", "ended") };
  return due === undefined ? { do: "rest" } : { do: "wait", wakeAt: due };
};

/** Returns the wait; `busy`: the step ends pods or changes other objects of the job. */
export const waitsOf = (scene: JobContext, asked: Asked, busy: boolean): Waits => {
  const { memory } = scene;
  const sooner = isOrdered(scene) || asked.more === true;
  const ending = scene.members.some((member) => member.ending || isOver(member, memory));
  if (isFinished(memory.phase)) return afterEnd(scene, busy || sooner, ending || memory.kept !== "");
  const backoffEnd = heldUntil(memory, scene.view.now);
  const wakeAt = earliest(asked.wakeAt, ...memory.delays.map(({ dueAt }) => dueAt), deadlineOf(scene), backoffEnd);
  const missing = !isHeld(scene) && hasMore(scene) && moveFor(memory.phase, "SyncJob").pods === "sync";
  return {
    do: sooner || missing || leadsOn(scene) ? "again" : "wait",
    waitsFor: waitsFor(scene),
    ...(wakeAt === undefined ? {} : { wakeAt }),
    ...(ending || busy ? { pollMs } : {}),
  };
};
