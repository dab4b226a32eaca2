/**
 * One step of one key: read, decide, save, apply, write the status, requeue. Any process may take it and may die at any
 * point of it.
 *
 * R1. State that cannot be observed again is saved before a step acts on it.
 * R2. After a death, the next step reads and decides again; nothing is replayed.
 * R3. Every effect is fenced and idempotent, so deciding it twice does it once.
 */
import { isPaused } from "../../core/annotation.ts";
import type { Reads } from "../../core/decision.ts";
import { BudgetError } from "../../core/http.ts";
import { logsAged } from "../../core/kept-log.ts";
import { isEviction, type Message, noticedKind, subjectOf, textOf } from "../../core/key.ts";
import { otherManagerOf } from "../../core/managed-by.ts";
import type { Effect, Plan, Refusal, Trouble, View } from "../../core/plan.ts";
import { applyStage } from "../cluster/apply.ts";
import { keptReads, type Round, recordingOf, resultOf, type StepReads, type Within } from "../cluster/queries.ts";
import {
  applyContextOf,
  type Ending,
  objectRef,
  type StepContext,
  type StepPlan,
  type StoredRecord,
  type World,
} from "../context/world.ts";
import type { Cleanup, Version } from "../ports.ts";
import { isRightOn, readsOf } from "../reads/freshness.ts";
import { firstRead, keepAgain, keepInCache, mayBeWrong, type ReadMode, readAt, readModeOf } from "../reads/reader.ts";
import { orderIn } from "../recovery/cleanup-order.ts";
import { labelsOf, ready } from "../recovery/ready.ts";
import { internal, troubleOf } from "../trouble.ts";
import { found, givenUp, passOver, worstTrouble } from "../writes/effects.ts";
import { dismiss, inherited, keptForUpdates } from "../writes/outbox.ts";
import { logEffects, requeue, requeueAfterRace, requeueAfterTrouble, scheduleNext } from "../writes/requeue.ts";
import { save } from "../writes/save.ts";
import { showFirst, tell } from "../writes/status.ts";
import { inStandby } from "./standby.ts";

/** The number of decisions that one step may take. */
const rounds = 8;

/**
 * Takes one step for the message's key. Throws only if the key could not be requeued; the queue then delivers the
 * message again.
 */
export const step = async (world: World, message: Message): Promise<Ending> =>
  (await inStandby(world, message)) ?? (await begun(world, message));

const begun = async (world: World, message: Message): Promise<Ending> => {
  if (world.deliver !== undefined && subjectOf(message) !== undefined)
    return await takeOther(world, message, world.deliver);
  if (world.notice !== undefined && noticedKind(message) !== undefined)
    return await takeOther(world, message, world.notice);
  if (world.evicted !== undefined && isEviction(message)) return await takeOther(world, message, world.evicted);
  const operator = world.operatorOf(message.kind);
  if (operator === undefined) return { did: "nothing", why: `no operator for kind ${message.kind}` };
  const [turn, creator] = [world.turns?.(), world.creators?.(message.namespace)];
  const call: Call = { world, message, operator, began: world.clock.monotonic(), turn, creator };
  try {
    if ((await world.inCharge?.(message, undefined)) === false)
      return { did: "nothing", why: "outside the scope of this process" };
    if (message.reason === logsAged) return await pruned(call);
    return await takeStep(call, readModeOf(call));
  } catch (cause) {
    return await requeue(world, message, understood(world, message, cause));
  } finally {
    turn?.leave();
    creator?.leave();
  }
};

/** Takes a delivery, a notice or an eviction. Each has a key of its own, so an unreachable listener holds up no other key. */
const takeOther = async (
  world: World,
  message: Message,
  run: (message: Message) => Promise<Ending>,
): Promise<Ending> => {
  try {
    return await run(message);
  } catch (cause) {
    return await requeue(world, message, understood(world, message, cause));
  }
};

/** Deletes kept logs that are no longer to be kept; the object itself gets no step. */
const pruned = async ({ world, message, operator }: Call): Promise<Ending> => {
  const { cluster, checkpoints, clusterUid } = world;
  const { pruneLogs } = await import("../cluster/kept-logs.ts");
  const object = objectRef(message, operator);
  const why = await pruneLogs({ cluster, checkpoints, clusterUid, key: message, object });
  return why === undefined ? { did: "step", writes: 1 } : { did: "nothing", why };
};

type Call = Omit<StepContext, "observation" | "looked">;

const takeStep = async (call: Call, first: ReadMode): Promise<Ending> => {
  const { world, message } = call;
  const began = world.clock.monotonic();
  const observed = await firstRead(call, first);
  if (observed.see === "nothing") return await found(call);
  if (observed.see === "outdated timer") return { did: "nothing", why: "a later plan wants no timer" };
  if ((await world.inCharge?.(message, labelsOf(observed))) === false)
    return { did: "nothing", why: "outside the scope of this process" };
  const looked = (observed.see === "observation" ? readAt(observed.observation) : undefined) ?? began;
  const object = observed.see === "broken" ? observed.brokenRecord.object : observed.observation.object;
  if (isPaused(object)) return { did: "nothing", why: "paused by annotation" };
  const manager = otherManagerOf(object, call.operator.resource);
  if (manager !== undefined)
    return await (await import("./foreign-controller.ts")).leaveTo(manager, { ...call, looked }, observed);
  const observation = await ready({ ...call, looked }, observed);
  if ("did" in observation) return observation;
  return await proceed({ ...call, observation, looked, created: new Map() });
};

/**
 * True if the step waited for a submission slot: its decision is outdated, and so is the clock that its fence counts
 * from.
 */
const hasWaited = async ({ turn }: StepContext, plan: Plan<unknown>): Promise<boolean> =>
  plan.safety?.fenced === true && (await turn?.enter()) === "waited";

/** True if the plan must be decided again on live reads: it is not right on what it rests on, or the step has waited. */
const isOld = async (run: StepContext, so: Progress, plan: Plan<unknown>): Promise<boolean> =>
  !isRightOn(run, so, plan) || (await hasWaited(run, plan));

const creates = (stage: readonly Effect[]): boolean => stage.some(({ do: act }) => act === "create");

/**
 * True if the step waited for its turn to create many objects. Many such steps at once would all outlast their fences. The
 * step that waits here holds no submission slot, for which the others could wait.
 */
const hasWaitedToCreate = async (
  { world, operator, turn, creator }: StepContext,
  plan: Plan<unknown>,
): Promise<boolean> => {
  if (operator.watched === undefined || plan.safety?.fenced === true) return false;
  if (plan.stages.flat().filter(({ do: act }) => act === "create").length < world.timing.parallel) return false;
  turn?.leave();
  return (await creator?.enter()) === "waited";
};

/**
 * Returns the end of the fence for creations, monotonic. It counts from the first read, like `view.now`, by which other
 * steps compute when a creation can no longer arrive.
 */
const creationsEnd = ({ world, looked }: StepContext, { safety }: Plan<unknown>): number =>
  looked + (safety?.createWithinMs ?? world.timing.fenceMs);

/** True if more than half of the time for its creations has passed before the save. */
const isLate = (run: StepContext, plan: Plan<unknown>): boolean => {
  const end = creationsEnd(run, plan);
  return run.slow !== true && plan.stages.some(creates) && run.world.clock.monotonic() > (run.looked + end) / 2;
};

/**
 * Handles a lost race: takes the step again on live reads if an assumption or a cached read may be wrong (nothing was
 * touched), and requeues the key otherwise.
 */
const retryAfterRace = (run: StepContext, held: StoredRecord): Promise<Ending> =>
  mayBeWrong(run, held) ? takeStep(run, "live") : requeueAfterRace(run);

/**
 * Returns the context to carry the plan out with; or the end of the step, if the plan was not carried out or was
 * decided again.
 */
const beginPlan = async (
  run: StepContext,
  so: Progress,
  held: StoredRecord,
  plan: Plan<unknown>,
): Promise<StepContext | Ending> => {
  if (run.world.shadow !== undefined) {
    run.world.shadow(run.message, plan, run.observation.object);
    return { did: "nothing", why: "dry run" };
  }
  if (await isOld(run, so, plan)) return await takeStep(run, "live");
  if (await hasWaitedToCreate(run, plan)) {
    keepAgain(run);
    return await takeStep({ ...run, began: run.world.clock.monotonic() }, readModeOf(run));
  }
  if (isLate(run, plan)) return await takeStep({ ...run, slow: true }, "live");
  const shown = await showFirst(run, held, plan);
  return shown === "raced" ? await retryAfterRace(run, held) : shown;
};

/**
 * True if another writer came between a read and an effect that rests on it, for the first time in this step. The step decides
 * again at once: stages that did not come to pass may be what others wait for.
 */
const isOvertaken = ({ again }: StepContext, { reason }: Trouble): boolean => reason === "Conflict" && again !== true;

const proceed = async (begun: StepContext): Promise<Ending> => {
  const { observation } = begun;
  let run = begun;
  let held: StoredRecord = { record: observation.record, version: observation.version };
  let so: Progress = { memory: observation.memory, refused: [], done: [], passed: [], reads: readsOf(run) };
  let writes = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      const plan = await keptForUpdates(run, held, await decide(run, so, held));
      const opened = await beginPlan(run, so, held, plan);
      if ("did" in opened) return opened;
      if (opened !== run) writes += 1;
      run = opened;
      const done = await carryOut(run, held, plan);
      if (done.did === "raced") return await retryAfterRace(run, held);
      writes += done.writes;
      held = done.held;
      if (done.did === "troubled" && isOvertaken(run, done.trouble))
        return await takeStep({ ...run, again: true }, "live");
      if (done.did === "troubled") return await requeueAfterTrouble(run, held, done.trouble, plan);
      if (done.did === "finished") return await finish(run, held, plan, writes);
      so = after(run, so, plan, done);
    }
    throw new Error(`${textOf(run.message)}: no plan after ${rounds} refusals`);
  } catch (cause) {
    return await requeueAfterTrouble(run, held, understood(run.world, run.message, cause));
  }
};

/** Converts an error into a trouble. The stack of an internal fault goes to the log only. */
const understood = (world: World, message: Message, cause: unknown): Trouble => {
  const trouble = troubleOf(cause);
  if (trouble.reason === internal && cause instanceof Error)
    world.report("error", "a step failed", { key: textOf(message), error: cause.stack ?? cause.message });
  return trouble;
};

/** The progress of a step beyond its observation. */
type Progress = {
  readonly memory: unknown;
  readonly refused: readonly Refusal[];
  readonly done: readonly Effect[];
  readonly passed: readonly Effect[];
  readonly reads: StepReads;
};

/**
 * Returns the progress after a plan. A refusal shows that the step's reads are outdated: the next decision reads
 * everything again.
 */
const after = (run: StepContext, so: Progress, { memory, stages }: Plan<unknown>, carried: Carried): Progress => {
  if (carried.did === "refused")
    return { ...so, memory, refused: [...so.refused, ...carried.refused], reads: readsOf(run) };
  const passed = [...so.passed, ...("passed" in carried ? carried.passed : [])];
  return { ...so, memory, done: [...so.done, ...stages.flat()], passed };
};

/** Returns the budget for work about this object: limits its time, and rejects it while the object is in quarantine. */
const budgetOf = ({ world: { quarantine, meter }, message, observation }: StepContext): Within => {
  if (quarantine === undefined) return (work) => work();
  const version = `${observation.uid} ${observation.object?.metadata.generation ?? ""}`;
  return async (work) => {
    try {
      return await quarantine.run(message, version, work);
    } catch (cause) {
      if (cause instanceof BudgetError && cause.why === "stopped")
        meter?.([{ do: "count", name: "rekindle_decisions_stopped_total", value: 1, of: {} }]);
      throw cause;
    }
  };
};

/** The number of tries of one decision on a busy machine. */
const starvedMost = 5;

/** Decides again from the same reads if the machine was too busy, because that says nothing about the decision. */
const unstarved = async <T>(decide: () => Promise<T>, tries = starvedMost): Promise<T> => {
  try {
    return await decide();
  } catch (cause) {
    if (tries <= 1 || !(cause instanceof BudgetError) || cause.why !== "starved") throw cause;
    return await unstarved(decide, tries - 1);
  }
};

/** Returns the decision of a cleanup order. */
const cleaning = async (
  { world, message: key, operator }: StepContext,
  { record }: StoredRecord,
  cleanup: Cleanup,
  view: View<unknown>,
): Promise<() => Reads<StepPlan>> => {
  const { clean } = await import("../recovery/cleanup.ts");
  return () => clean({ key, operator, cleanup, timing: world.timing, memo: record?.status }, view);
};

/** Returns the plan of the kind; while there is a cleanup order, the plan of that order. */
const decide = async (run: StepContext, so: Progress, held: StoredRecord): Promise<StepPlan> => {
  const { world, message, operator, observation, slow } = run;
  const { object, uid, now, returning } = observation;
  const { memory, refused, done, passed, reads } = so;
  const view = { object, uid, memory, now, refused, done, passed, returning, ...(slow ? { slow } : {}) };
  const order = object === undefined ? undefined : orderIn(held.record);
  const within = budgetOf(run);
  const begin = order === undefined ? () => operator.decide(message, view) : await cleaning(run, held, order, view);
  const keep = order === undefined ? world.recording?.(message, object, now) : undefined;
  let rounds: Round[] = [];
  const plan = await unstarved(() => {
    rounds = [];
    return resultOf(begin, keep === undefined ? reads : keptReads(reads, rounds), textOf(message), within);
  });
  world.quarantine?.finished(message);
  await keep?.(recordingOf({ key: message, view, plan }, rounds));
  return plan;
};

type Carried =
  | { readonly did: "raced" }
  | {
      readonly did: "refused";
      readonly held: StoredRecord;
      readonly writes: number;
      readonly refused: readonly Refusal[];
    }
  | { readonly did: "troubled"; readonly held: StoredRecord; readonly writes: number; readonly trouble: Trouble }
  /** `made`: the plan ended with "continue", and this step decides again. */
  | {
      readonly did: "made" | "finished";
      readonly held: StoredRecord;
      readonly writes: number;
      readonly passed: readonly Effect[];
    };

const carryOut = async (run: StepContext, held: StoredRecord, plan: StepPlan): Promise<Carried> => {
  const planned = run.world.clock.monotonic();
  const saved = await save(run, held, plan);
  if (saved === "raced") return { did: "raced" };
  const last = Math.min(planned + run.world.timing.fenceMs, run.began + run.world.timing.stepMs);
  let writes = saved.version === held.version ? 0 : 1;
  const passed: Effect[] = [];
  const within = budgetOf(run);
  for (const stage of plan.stages) {
    const until = creates(stage) ? Math.min(last, creationsEnd(run, plan)) : last;
    const applying = { ...applyContextOf(run, until), within };
    const results = givenUp(run, stage, await applyStage(applying, stage, run.world.timing.parallel));
    writes += results.length;
    const trouble = worstTrouble(run, stage, results);
    if (trouble !== undefined) return { did: "troubled", held: saved, writes, trouble };
    const unreported = await passOver(run, stage, results);
    if (unreported !== undefined) return { did: "troubled", held: saved, writes, trouble: unreported };
    const refused = results.flatMap((result) => (result.did === "refused" ? [result.refusal] : []));
    if (refused.length > 0) return { did: "refused", held: saved, writes, refused };
    passed.push(...stage.filter((_, index) => results[index]?.did === "passed"));
    logEffects(run, stage);
  }
  return { did: plan.next.do === "continue" ? "made" : "finished", held: saved, writes, passed };
};

/** Ends a record: deletes it, or hands its undelivered updates over to the next object of the name. */
const release = async (
  run: StepContext,
  { record }: StoredRecord,
  version: Version,
): Promise<Version | "removed" | "raced"> => {
  const { world, message } = run;
  if (record?.logs === true) {
    const { releaseLogs } = await import("../cluster/kept-logs.ts");
    if ((await releaseLogs(world.checkpoints, message)) === "raced") return "raced";
  }
  const next = record === undefined ? undefined : inherited(run, record);
  if (next !== undefined) return await world.checkpoints.save(message, next, version);
  if (record?.outbox !== undefined) await dismiss(run, record.outbox);
  return await world.checkpoints.remove(message, version);
};

/**
 * Ends a step after its effects: writes the status, deletes the record of a plan that forgets, and requeues the key.
 */
const finish = async (run: StepContext, held: StoredRecord, plan: Plan<unknown>, before: number): Promise<Ending> => {
  const reported = await tell(run, held, plan);
  if (reported === "raced") return await requeueAfterRace(run);
  let writes = before + reported.writes;
  if (plan.next.do === "forget" && reported.held.version !== undefined) {
    const released = await release(run, reported.held, reported.held.version);
    if (released === "raced") return await requeueAfterRace(run);
    writes += 1;
  }
  await scheduleNext(run, reported.held, plan);
  keepInCache(run, reported.held, reported.object, plan);
  return { did: "step", writes };
};
