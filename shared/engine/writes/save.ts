/** Saves a plan: stores what cannot be observed again before any effect, by a conditional write that decides races. */

import { same } from "../../core/json.ts";
import { textOf, timerReason } from "../../core/key.ts";
import { keptMarks } from "../../core/marks.ts";
import { type PastRun, waitOf, waitsForText } from "../../core/plan.ts";
import { madeWith } from "../checkpoint/classify.ts";
import { bounded, expiryOf, keptRuns, withUnreadFields } from "../checkpoint/record.ts";
import { specsAfter } from "../checkpoint/specs.ts";
import { timelineAfter } from "../checkpoint/timeline.ts";
import { presentTime, type StepContext, type StepPlan, type StoredRecord } from "../context/world.ts";
import type { CheckpointRecord } from "../ports.ts";
import { recoveryOf } from "../settings.ts";
import { outboxAfter, requestDelivery } from "./outbox.ts";
import { acts, needsNone, statusPatch } from "./status.ts";

const unnoticed = { saves: 0, made: undefined, timeline: undefined, specs: undefined };

/**
 * True if the record changes in more than the deployment's settings, its timeline and specs, in that no timer is
 * wanted any more, or in its first digest of labels and annotations: these alone are no reason to write.
 */
const isNews = (held: CheckpointRecord | undefined, next: CheckpointRecord): boolean =>
  !same(
    { ...held, ...unnoticed, untimed: held?.untimed === true ? true : undefined },
    {
      ...next,
      ...unnoticed,
      untimed: next.untimed === true && held?.untimed === true ? true : undefined,
      ...(held?.marks === undefined ? { marks: undefined } : {}),
    },
  );

/** True of a plan that waits for events alone. A step that continues decides, and saves, again if it needs a timer. */
const isUntimed = ({ next }: StepPlan): boolean =>
  (next.do === "wait" || next.do === "continue") && next.wakeAt === undefined && next.pollMs === undefined;

/** True if a death after the save would leave something of the plan undone. */
const leavesWork = ({ observation: { object } }: StepContext, { record }: StoredRecord, plan: StepPlan): boolean =>
  plan.stages.flat().length > 0 ||
  (object !== undefined && plan.status !== undefined && statusPatch(object, plan.status, record?.status) !== undefined);

/**
 * After a death beside the save, the message that began the step comes again, and its step does what is left of the plan. So a
 * record that a timer's step saves takes no timer for outdated, unless nothing is left to do.
 */
const untimedAfter = (run: StepContext, held: StoredRecord, plan: StepPlan): CheckpointRecord["untimed"] => {
  if (run.message.reason !== timerReason || !leavesWork(run, held, plan)) return isUntimed(plan) ? true : undefined;
  return plan.next.do === "rest" ? false : undefined;
};

/** R1: stores the memory. Only the winner of the conditional save goes on; the loser has touched nothing. */
export const save = async (run: StepContext, held: StoredRecord, plan: StepPlan): Promise<StoredRecord | "raced"> => {
  const { world, message, observation } = run;
  // A record that was only assumed to be missing would remain.
  if (plan.next.do === "forget") return observation.assumedNew && held.version === undefined ? "raced" : held;
  if (await needsNone(run, held, plan)) return held;
  const outbox = await outboxAfter(run, held, plan);
  const whole = { ...recordOf(run, held, plan), outbox };
  const next = bounded(whole, run.operator, recoveryOf(world).maxBytes);
  if (plan.safety?.fenced !== true && !acts(plan) && !isNews(held.record, next)) {
    await requestDelivery(run, held.record?.outbox, held.record?.outbox);
    return held;
  }
  const version = await world.checkpoints.save(message, next, held.version);
  if (version === "raced") return "raced";
  // The plan may rest on live reads that the watch does not show yet.
  if (observation.fromCache !== true) world.cache?.invalidate(message);
  world.report("debug", "saved", { key: textOf(message), saves: next.saves, uid: observation.uid });
  recount(run, held, plan);
  await requestDelivery(run, held.record?.outbox, outbox);
  return { record: next, version };
};

/** Returns the memory of the stored record, if it can be read. */
const memoryOf = ({ operator }: StepContext, { record }: StoredRecord): unknown => {
  const read = record === undefined ? undefined : operator.parse(record.memory);
  return read?.ok === true ? read.memory : undefined;
};

/** Counters that depend on the memory are incremented by the step that saves it. */
const recount = (run: StepContext, held: StoredRecord, { memory }: StepPlan): void => {
  const { world, operator, message } = run;
  if (world.meter === undefined || operator.measuresOfSave === undefined) return;
  world.meter(operator.measuresOfSave(memoryOf(run, held), memory, message));
};

/** Returns the run that ends with this plan. */
const overWith = (run: StepContext, held: StoredRecord, { memory }: StepPlan): PastRun | undefined => {
  const before = memoryOf(run, held);
  return before === undefined ? undefined : run.operator.recovery?.past?.(before, memory, run.observation.now);
};

/**
 * Returns the cleanup order of the next record. An order holds until it is carried out, and after that until the object
 * changes.
 */
const cleanupAfter = (
  { observation }: StepContext,
  { record }: StoredRecord,
  { closing }: StepPlan,
): CheckpointRecord["cleanup"] => {
  const cleanup = record?.cleanup;
  if (cleanup === undefined) return undefined;
  if (closing === "cleanup") return { ...cleanup, done: observation.now };
  const changed = observation.object !== undefined && observation.object.metadata.generation !== record?.generation;
  return cleanup.done !== undefined && changed ? undefined : cleanup;
};

const keepsLog = ({ stages }: StepPlan): boolean => stages.flat().some((effect) => effect.do === "keepLog");

/**
 * Builds the next record. A published trouble stays until a step succeeds, and the record does not rest until then: see
 * `tell`. All other fields stay as they are, also those that only a later version knows.
 */
const recordOf = (run: StepContext, held: StoredRecord, plan: StepPlan): CheckpointRecord => {
  const { world, operator, observation } = run;
  const { record } = held;
  const { object } = observation;
  const { wakeAt, returning } = waitOf(plan);
  const waitsFor = waitsForText(plan);
  const rests = plan.next.do === "rest" && record?.trouble === undefined ? true : undefined;
  const runs = keptRuns(record?.runs ?? [], overWith(run, held, plan), observation.now, recoveryOf(world));
  return {
    ...record,
    schema: 1,
    cluster: world.clusterUid,
    uid: observation.uid,
    saves: (record?.saves ?? 0) + 1,
    made: madeWith(world.timing),
    generation: object?.metadata.generation ?? record?.generation,
    labels: object === undefined ? record?.labels : object.metadata.labels,
    rests,
    marks: rests === true ? keptMarks(object).marks : undefined,
    wakeAt,
    waitsFor,
    timeline: timelineAfter(record, waitsFor, presentTime(run)),
    specs: operator.keepsSpecs === true ? specsAfter(record?.specs, object, observation.now) : undefined,
    untimed: untimedAfter(run, held, plan),
    returning: returning === true ? observation.returning : undefined,
    cleanup: cleanupAfter(run, held, plan),
    runs: runs.length === 0 ? undefined : runs,
    pruneAt: expiryOf(runs, recoveryOf(world)),
    logs: record?.logs ?? (keepsLog(plan) ? true : undefined),
    memory: withUnreadFields(operator, record?.memory, plan.memory),
  };
};
