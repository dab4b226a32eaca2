/**
 * What a step adds to the outbox, and when a record that only its updates keep may go. Reconcile appends and drops what
 * is behind; delivery, under its own key, tells it and alone knows how far it came.
 */

import { dedupe, deliveryKey, digest, type Message, textOf } from "../core/key.ts";
import {
  appended,
  behind,
  capacity,
  newestOf,
  type Outbox,
  positionOf,
  positionText,
  waiting,
} from "../core/outbox.ts";
import { until } from "../core/waiting-on.ts";
import type { StepContext, StepPlan, StoredRecord } from "./context.ts";
import type { CheckpointRecord } from "./ports.ts";

/** So long a record is kept for updates that nobody acknowledges once the object is gone, ms. */
const longestLingerMs = 3_600_000;

/** What is acknowledged is asked for only when it makes room. */
const trimmed = async ({ world, message }: StepContext, outbox: Outbox): Promise<Outbox> => {
  if (outbox.entries.length <= capacity / 2) return outbox;
  return behind(outbox, await world.updates?.acknowledged(message));
};

/** A name of its own for every stream that is begun, so that what was acknowledged of another one says nothing of it. */
const streamOf = ({ world, message, observation }: StepContext): string =>
  digest(
    textOf(message),
    observation.uid,
    observation.version ?? "",
    `${observation.now} ${world.clock.monotonic()}`,
  ).slice(0, 16);

const departed = (run: StepContext, outbox: Outbox): Outbox => {
  const { uid, now } = run.observation;
  const newest = newestOf(outbox);
  const word = { state: "DELETED", attempt: newest?.attempt ?? 0, terminal: true, message: "the object is gone" };
  const { stream, to } = outbox;
  const told = newest?.uid === uid && newest.terminal ? outbox : appended(outbox, word, { uid, now, to, stream });
  return { ...told, leftAt: outbox.leftAt ?? now };
};

/** The outbox to be saved with this plan; undefined where nobody listens. */
export const outboxAfter = async (
  run: StepContext,
  held: StoredRecord,
  plan: StepPlan,
): Promise<Outbox | undefined> => {
  const { world, message, operator, observation } = run;
  const outbox = held.record?.outbox;
  if (world.updates === undefined) return outbox;
  if (plan.closing === "updates" && outbox !== undefined) return departed(run, outbox);
  if (observation.object === undefined) return outbox;
  const to = await world.updates.destinationOf(message, observation.object.metadata.annotations);
  if (to === undefined) return undefined;
  const word = operator.tells?.(plan, observation.object);
  if (word === undefined) return outbox;
  const next = appended(outbox, word, {
    uid: observation.uid,
    now: observation.now,
    to,
    stream: outbox?.stream ?? streamOf(run),
  });
  return next === outbox ? outbox : await trimmed(run, next);
};

/** A resync finds what could not be asked for: telling never holds up doing. */
const post = async ({ world }: StepContext, message: Message, id: string, ms?: number): Promise<void> => {
  const { queue } = world;
  const posted = ms === undefined ? queue.send(message, id) : queue.sendLater(message, id, ms);
  await posted.catch((cause: unknown) => {
    world.report("warn", "an update waits for the next resync", { key: textOf(message), error: String(cause) });
  });
};

/** The queue swallows what comes again within so long under one id, ms; a resync finds what is older. */
const rememberedMs = 300_000;
/** Before that nobody's message can have come again who died, ms. */
const soonestAgainMs = 60_000;

/** Who saved the newest update may have died, or heard nothing of it, before a delivery was asked for. */
const isDoubtful = ({ message, observation }: StepContext, outbox: Outbox): boolean => {
  const ageMs = observation.now - (newestOf(outbox)?.at ?? 0);
  if (ageMs >= rememberedMs) return false;
  return ageMs >= soonestAgainMs || message.reason === "retry" || message.fresh === true;
};

/** Asks for a delivery of what was saved; under the same id once more, where it is in doubt that somebody did. */
export const ring = async (run: StepContext, before: Outbox | undefined, after: Outbox | undefined): Promise<void> => {
  if (after === undefined || run.world.updates === undefined) return;
  const position = positionText(positionOf(after));
  const isOld = before?.to === after.to && positionText(positionOf(before)) === position;
  if (isOld && !isDoubtful(run, after)) return;
  const key = deliveryKey(run.message);
  await post(run, { ...key, reason: "update" }, dedupe.timer(key, `append ${position} ${after.to}`));
};

const isGivenUp = ({ leftAt }: Outbox, now: number): boolean => leftAt !== undefined && now - leftAt >= longestLingerMs;

/** A plan that would forget waits for what is still to be told, if nobody else has the name by now. */
export const lingering = async (run: StepContext, held: StoredRecord, plan: StepPlan): Promise<StepPlan> => {
  const { world, message, observation } = run;
  const outbox = held.record?.outbox;
  if (
    plan.next.do !== "forget" ||
    outbox === undefined ||
    world.updates === undefined ||
    observation.replacementUid !== undefined
  )
    return plan;
  const left = waiting(outbox, await world.updates.acknowledged(message)).length;
  if (newestOf(outbox)?.terminal === true && left === 0) return plan;
  if (isGivenUp(outbox, observation.now)) {
    world.report("warn", "gave up on status updates: no listener acknowledged them", { key: textOf(message), left });
    return plan;
  }
  return {
    memory: plan.memory,
    stages: plan.stages,
    closing: "updates",
    next: {
      do: "wait",
      wakeAt: (outbox.leftAt ?? observation.now) + longestLingerMs,
      waitsFor: until("its updates", "acknowledged"),
    },
  };
};

/** What was not told of an object goes over to the next one of its name: nothing of that one waits for it. */
export const inherited = (run: StepContext, { outbox, saves }: CheckpointRecord): CheckpointRecord | undefined => {
  const { observation } = run;
  if (outbox === undefined || observation.replacementUid === undefined) return undefined;
  const { leftAt: _, ...left } = departed(run, outbox);
  return {
    schema: 1,
    cluster: run.world.clusterUid,
    uid: observation.replacementUid,
    saves: saves + 1,
    outbox: left,
    memory: null,
  };
};

/** By then a record that is being removed is, or somebody has died over it. */
const dismissMs = 15_000;

/** Delivery keeps a record of its own, and removes it when it finds none of the key: told before that one is removed. */
export const dismiss = async (run: StepContext, outbox: Outbox): Promise<void> => {
  const key = deliveryKey(run.message);
  const id = dedupe.timer(key, `forgotten ${outbox.stream} ${run.observation.now}`);
  await post(run, { ...key, reason: "forgotten" }, id, dismissMs);
};
