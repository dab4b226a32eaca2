/** The status of a Job, from its memory and the counts of its pods. */
import { instantOf, timeText } from "../../core/time.ts";
import type { Json } from "../../kube/responses.ts";
import { notesOf } from "../plugins/all.ts";
import { durationText } from "../schema/spec.ts";
import { type JobContext, podCounts, type ReasonMessage } from "./context.ts";
import { isFinished } from "./machine.ts";
import { claimNotes } from "./owned-objects.ts";
import type { Counting } from "./pods.ts";

const positive = (name: string, number: number): Json => (number === 0 ? {} : { [name]: number });

const stateOf = ({ memory }: JobContext, reason: ReasonMessage | undefined): Json => {
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

const notes = (context: JobContext): Json => {
  if (context.memory.kept === undefined || context.memory.kept === "") return {};
  const controlledResources = { ...notesOf(context.spec.plugins), ...claimNotes(context) };
  return Object.keys(controlledResources).length === 0 ? {} : { controlledResources };
};

/** Returns the whole status; `created`: pods that it counts before they exist. */
export const projected = (
  context: JobContext,
  word: ReasonMessage | undefined,
  created: readonly Counting[] = [],
): Readonly<Record<string, unknown>> => {
  const { memory } = context;
  const tally = podCounts(context, created);
  const tasks = Object.entries(tally.byTask).map(([task, phase]) => [task, { phase }]);
  return {
    state: stateOf(context, word),
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
    ...durationOf(context),
    ...notes(context),
    conditions: memory.conditions.map(({ phase, at }) => ({ status: phase, lastTransitionTime: timeText(at) })),
  };
};
