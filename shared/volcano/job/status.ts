/** The status of a Job, projected from its memory and its pods. */
import { instantOf, timeText } from "../../core/time.ts";
import type { Json } from "../../kube/responses.ts";
import { notesOf } from "../plugins/all.ts";
import { durationText } from "../schema/duration.ts";
import { type JobContext, tallied, type Word } from "./context.ts";
import { isFinished } from "./machine.ts";
import { claimNotes } from "./owned-objects.ts";

const positive = (name: string, number: number): Json => (number === 0 ? {} : { [name]: number });

const stateOf = ({ memory }: JobContext, reason: Word | undefined): Json => {
  return {
    phase: memory.phase,
    lastTransitionTime: timeText(memory.since),
    ...(reason === undefined ? {} : { reason: reason.reason, message: reason.message }),
  };
};

const durationOf = ({ memory, object }: JobContext): Json => {
  const created = instantOf(object.metadata.creationTimestamp);
  if (created === undefined || !isFinished(memory.phase)) return {};
  return { runningDuration: durationText(Math.max(0, memory.since - created)) };
};

const notes = (scene: JobContext): Json => {
  if (scene.memory.kept === undefined || scene.memory.kept === "") return {};
  const controlledResources = { ...notesOf(scene.spec.plugins), ...claimNotes(scene) };
  return Object.keys(controlledResources).length === 0 ? {} : { controlledResources };
};

/** Returns the whole status. */
export const projected = (scene: JobContext, word: Word | undefined): Readonly<Record<string, unknown>> => {
  const { memory } = scene;
  const tally = tallied(scene);
  const tasks = Object.entries(tally.byTask).map(([task, phase]) => [task, { phase }]);
  return {
    state: stateOf(scene, word),
    ...positive("minAvailable", tally.minAvailable),
    ...(tasks.length === 0 ? {} : { taskStatusCount: Object.fromEntries(tasks) }),
    ...positive("pending", tally.pending),
    ...positive("running", tally.running),
    ...positive("succeeded", tally.succeeded),
    ...positive("failed", tally.failed),
    ...positive("unknown", tally.unknown),
    ...positive("terminating", tally.terminating),
    ...positive("version", memory.version),
    ...positive("retryCount", memory.retryCount),
    ...durationOf(scene),
    ...notes(scene),
    conditions: memory.conditions.map(({ phase, at }) => ({ status: phase, lastTransitionTime: timeText(at) })),
  };
};
