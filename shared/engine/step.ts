/**
 * One step of one key: look, decide, save, apply, tell, rest. Any invocation may take it, and may die at any point of it.
 *
 * R1. What cannot be observed again is saved before it is acted on.
 * R2. After a death, look and decide again; nothing is replayed.
 * R3. Every effect is fenced and idempotent, so deciding it twice does it once.
 */
import { same } from "../core/json.ts";
import { dedupe, type Message, textOf } from "../core/key.ts";
import type { Stored } from "../core/object.ts";
import type { Operator } from "../core/operator.ts";
import type { Plan, Refusal, Trouble } from "../core/plan.ts";
import { queryId } from "../core/plan.ts";
import { applyStage, type Done } from "./apply.ts";
import { look, objectRef, observe, type Sight } from "./observe.ts";
import type { CheckpointRecord, Version } from "./ports.ts";
import { statusPatch, writeStatus } from "./status.ts";
import { backoffMs, troubleOf } from "./trouble.ts";
import type { Ending, World } from "./world.ts";

/** A decision may ask for more this often before it must come to a plan. */
const rounds = 8;

/** What the step has stored so far; a save replaces it. */
type Held = { readonly record: CheckpointRecord | undefined; readonly version: Version | undefined };

type Run = {
  readonly world: World;
  readonly message: Message;
  readonly operator: Operator<unknown>;
  readonly sight: Sight;
  /** Monotonic time at which the step began. */
  readonly began: number;
};

/** Takes one step for the message's key. Throws only when nobody could be told to come back: the queue will. */
export const step = async (world: World, message: Message): Promise<Ending> => {
  const operator = world.operatorOf(message.kind);
  if (operator === undefined) return { did: "nothing", why: `no operator for kind ${message.kind}` };
  if (world.inCharge?.(message, undefined) === false) return { did: "nothing", why: "not ours to run" };
  const began = world.clock.monotonic();
  try {
    const observed = await observe(world, message, operator);
    if (observed.see === "nothing") return { did: "nothing", why: "neither object nor checkpoint" };
    if (observed.see === "unreadable") {
      world.report("error", "recovery stopped: the checkpoint cannot be used, nothing is written for this key", {
        key: textOf(message),
        error: observed.error,
      });
      return { did: "stopped", why: observed.error };
    }
    const { sight } = observed;
    if (world.inCharge?.(message, sight.object) === false) return { did: "nothing", why: "not ours to run" };
    if (sight.object?.metadata.annotations?.["rekindle.dev/paused"] === "true")
      return { did: "nothing", why: "paused by annotation" };
    return await proceed({ world, message, operator, sight, began });
  } catch (cause) {
    return await comeBack(world, message, troubleOf(cause));
  }
};

const proceed = async (run: Run): Promise<Ending> => {
  const { world, message, sight } = run;
  let held: Held = { record: sight.record, version: sight.version };
  let memory = sight.memory;
  let writes = 0;
  let refused: readonly Refusal[] = [];
  for (let round = 0; round < rounds; round++) {
    const plan = await decide(run, memory, refused);
    if (world.shadow !== undefined) {
      world.shadow(message, plan);
      return { did: "nothing", why: "shadow mode" };
    }
    const done = await carryOut(run, held, plan);
    if (done.did === "raced") return await raced(run);
    writes += done.writes;
    held = done.held;
    memory = plan.memory;
    if (done.did === "troubled") return await lasting(run, held, done.trouble);
    if (done.did === "finished") return await rest(run, held, plan, writes);
    refused = [...refused, ...done.refused];
  }
  throw new Error(`${textOf(message)}: no plan after ${rounds} refusals`);
};

/** Asks until there is a plan; every look is live. */
const decide = async (run: Run, memory: unknown, refused: readonly Refusal[]): Promise<Plan<unknown>> => {
  const { world, message, operator, sight } = run;
  const seen = new Map<string, readonly Stored[]>();
  for (let round = 0; round < rounds; round++) {
    const { object, uid, now } = sight;
    const decision = operator.decide(message, { object, uid, memory, seen, now, refused });
    if (!("look" in decision)) return decision;
    const answers = await Promise.all(
      decision.look.map(async (query) => [queryId(query), await look(world.cluster, query)] as const),
    );
    for (const [id, objects] of answers) seen.set(id, objects);
  }
  throw new Error(`${textOf(message)}: asked to look ${rounds} times without coming to a plan`);
};

type Carried =
  | { readonly did: "raced" }
  | { readonly did: "refused"; readonly held: Held; readonly writes: number; readonly refused: readonly Refusal[] }
  | { readonly did: "troubled"; readonly held: Held; readonly writes: number; readonly trouble: Trouble }
  | { readonly did: "finished"; readonly held: Held; readonly writes: number };

const carryOut = async (run: Run, held: Held, plan: Plan<unknown>): Promise<Carried> => {
  const { world } = run;
  const planned = world.clock.monotonic();
  const saved = await save(run, held, plan);
  if (saved === "raced") return { did: "raced" };
  const until = Math.min(planned + world.timing.fenceMs, run.began + world.timing.stepMs);
  let writes = saved.version === held.version ? 0 : 1;
  for (const stage of plan.stages) {
    const hands = { cluster: world.cluster, clock: world.clock, until, now: run.sight.now };
    const results = await applyStage(hands, stage, world.timing.parallel);
    writes += results.length;
    const troubled = results.find((result) => result.did === "troubled");
    if (troubled !== undefined) return { did: "troubled", held: saved, writes, trouble: troubled.trouble };
    const refused = results.flatMap((result: Done) => (result.did === "refused" ? [result.refusal] : []));
    if (refused.length > 0) return { did: "refused", held: saved, writes, refused };
  }
  return { did: "finished", held: saved, writes };
};

/** R1: the memory is stored, and only the winner of the conditional save goes on; the loser has touched nothing. */
const save = async (run: Run, held: Held, plan: Plan<unknown>): Promise<Held | "raced"> => {
  const { world, message, sight } = run;
  if (plan.forget === true) return held;
  const next = recordOf(run, held, plan);
  if (plan.fenced !== true && same({ ...held.record, saves: 0 }, { ...next, saves: 0 })) return held;
  const version = await world.checkpoints.save(message, next, held.version);
  if (version === "raced") return "raced";
  world.report("debug", "saved", { key: textOf(message), saves: next.saves, uid: sight.uid });
  return { record: next, version };
};

const recordOf = (run: Run, held: Held, plan: Plan<unknown>): CheckpointRecord => {
  const generation = run.sight.object?.metadata.generation ?? held.record?.generation;
  return {
    schema: 1,
    cluster: run.world.clusterUid,
    uid: run.sight.uid,
    saves: (held.record?.saves ?? 0) + 1,
    ...(generation === undefined ? {} : { generation }),
    ...(plan.rests === true ? { rests: true } : {}),
    ...(plan.wakeAt === undefined ? {} : { wakeAt: plan.wakeAt }),
    ...(plan.waitsFor === undefined ? {} : { waitsFor: plan.waitsFor }),
    ...(held.record?.status === undefined ? {} : { status: held.record.status }),
    memory: plan.memory,
  };
};

/** After the effects: the status, the end of the record, and whoever must be told to come back. */
const rest = async (run: Run, held: Held, plan: Plan<unknown>, before: number): Promise<Ending> => {
  const told = await tell(run, held, plan);
  if (told === "raced") return await raced(run);
  let writes = before + told;
  if (plan.forget === true && held.version !== undefined) {
    if ((await run.world.checkpoints.remove(run.message, held.version)) === "raced") return await raced(run);
    writes += 1;
  }
  await arrange(run, held, plan);
  return { did: "step", writes };
};

/** The status, if it says something new, and the memo of what the server made of it. Gives the number of writes. */
const tell = async (run: Run, held: Held, plan: Plan<unknown>): Promise<number | "raced"> => {
  const { world, message, operator, sight } = run;
  if (plan.status === undefined || sight.object === undefined) return 0;
  const patch = statusPatch(sight.object, plan.status, held.record?.status);
  if (patch === undefined) return 0;
  const change = { patch, wished: plan.status };
  const memo = await writeStatus(world.cluster, objectRef(message, operator), sight.object, change);
  if (memo === undefined || held.record === undefined) return 1;
  const record = { ...held.record, saves: held.record.saves + 1, status: memo };
  return (await world.checkpoints.save(message, record, held.version)) === "raced" ? "raced" : 2;
};

/** R2: what is still to come is only a message to look again; the record's `wakeAt` is the truth. */
const arrange = async (run: Run, held: Held, plan: Plan<unknown>): Promise<void> => {
  const { world, message, sight } = run;
  const { cluster, kind, namespace, name } = message;
  const key = { cluster, kind, namespace, name };
  if (plan.again === true || (plan.forget === true && sight.successor)) {
    const id = `again ${sight.uid} ${held.record?.saves ?? 0} ${plan.forget === true}`;
    await world.queue.send({ ...key, reason: "again" }, dedupe.timer(key, id));
  }
  if (plan.forget === true) return;
  const wakeAt = Math.min(
    plan.wakeAt ?? Number.POSITIVE_INFINITY,
    sight.now + (plan.pollMs ?? Number.POSITIVE_INFINITY),
  );
  const delayMs = Math.max(1_000, wakeAt - sight.now);
  if (delayMs > 900_000) return;
  await world.queue.sendLater({ ...key, reason: "timer" }, dedupe.timer(key, `wake ${wakeAt}`), delayMs);
};

/** Somebody else took the step from the same state. What it saw may be older than what this one was called for. */
const raced = async (run: Run): Promise<Ending> => {
  const { world, message } = run;
  await world.queue.sendLater({ ...message, reason: "raced" }, unique(run, "raced"), 1_000);
  return { did: "raced" };
};

const unique = (run: Run, why: string): string =>
  dedupe.timer(run.message, `${why} ${run.sight.record?.saves ?? 0} ${run.message.tries ?? 0} ${run.sight.now}`);

/** Trouble that has lasted is kept in the record and told as an event, so that people see what is in the way. */
const lasting = async (run: Run, held: Held, trouble: Trouble): Promise<Ending> => {
  const { world, message, sight } = run;
  if ((message.tries ?? 0) >= 2) await publish(run, held, trouble);
  return await comeBack(world, message, trouble, sight.now);
};

const publish = async (run: Run, held: Held, trouble: Trouble): Promise<void> => {
  const { world, message, operator, sight } = run;
  const text = trouble.message.slice(0, 1024);
  if (held.record?.trouble?.reason === trouble.reason || sight.object === undefined) return;
  const hands = { cluster: world.cluster, clock: world.clock, until: Number.POSITIVE_INFINITY, now: sight.now };
  const about = { do: "record", about: sight.object, resource: operator.resource } as const;
  const occasion = `trouble ${held.record?.saves ?? 0}`;
  await applyStage(hands, [{ ...about, occasion, type: "Warning", reason: trouble.reason, message: text }], 1);
  if (held.record === undefined) return;
  const told = { reason: trouble.reason, message: text, since: held.record.trouble?.since ?? sight.now };
  const record = { ...held.record, saves: held.record.saves + 1, trouble: told };
  await world.checkpoints.save(message, record, held.version);
};

/** The platform's trouble is not the application's: come back later, and acknowledge. */
const comeBack = async (world: World, message: Message, trouble: Trouble, now = 0): Promise<Ending> => {
  const tries = message.tries ?? 0;
  const delayMs = backoffMs(message, tries, trouble.retryAfterMs);
  const { reason, message: text } = trouble;
  world.report(tries < 2 ? "info" : "warn", "in the way, trying again", {
    key: textOf(message),
    reason,
    message: text,
    tries,
    delayMs,
  });
  const id = dedupe.timer(message, `retry ${tries} ${now} ${world.clock.monotonic()}`);
  await world.queue.sendLater({ ...message, reason: "retry", tries: tries + 1 }, id, delayMs);
  return { did: "troubled", reason, message: text };
};
