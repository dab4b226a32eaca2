/**
 * The outbox in a step: appends status updates, and keeps a record until its updates are acknowledged. The steps of a
 * key append and drop acknowledged updates; delivery, under a key of its own, sends them and alone records its
 * position.
 */

import { dedupe, deliveryKey, digest, type Message, textOf } from "../../core/key.ts";
import {
  appended,
  capacity,
  newestOf,
  type Outbox,
  positionOf,
  positionText,
  streamName,
  waiting,
  withoutAcknowledged,
} from "../../core/updates.ts";
import { until } from "../../core/waiting-on.ts";
import type { StepContext, StepPlan, StoredRecord } from "../context/world.ts";
import type { CheckpointRecord } from "../ports.ts";

/** The time for which a record outlives its object for updates that no listener acknowledges, ms. */
const longestLingerMs = 3_600_000;

/** Drops acknowledged updates. The position of delivery is read only when the outbox is more than half full. */
const trimmed = async ({ world, message }: StepContext, outbox: Outbox): Promise<Outbox> => {
  if (outbox.entries.length <= capacity / 2) return outbox;
  return withoutAcknowledged(outbox, await world.updates?.acknowledged(message));
};

/** Returns a new stream with a unique name, so that positions of another stream do not apply to it. */
const newStream = ({ world, message, observation }: StepContext): Pick<Outbox, "stream" | "origin"> => {
  const { uid, version = "", now } = observation;
  const origin = `${uid} ${digest(version, `${now} ${world.clock.monotonic()}`).slice(0, 16)}`;
  return { stream: streamName(world.clusterUid, message, origin), origin };
};

const departed = (run: StepContext, outbox: Outbox): Outbox => {
  const { uid, now } = run.observation;
  const newest = newestOf(outbox);
  const word = { state: "DELETED", attempt: newest?.attempt ?? 0, terminal: true, message: "the object is gone" };
  const occasion = { uid, now, to: outbox.to, begins: outbox };
  const closing = newest?.uid === uid && newest.terminal ? outbox : appended(outbox, word, occasion);
  return { ...closing, leftAt: outbox.leftAt ?? now };
};

/** Returns the outbox to save with this plan; undefined if the key has no listener. */
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
  const word = operator.statusUpdate?.(plan, observation.object);
  if (word === undefined) return outbox;
  const next = appended(outbox, word, {
    uid: observation.uid,
    now: observation.now,
    to,
    begins: outbox ?? newStream(run),
  });
  return next === outbox ? outbox : await trimmed(run, next);
};

/**
 * Sends a message for delivery. An error is only logged, because updates must not hold up effects; a resync sends the
 * message again.
 */
const post = async ({ world }: StepContext, message: Message, id: string, ms?: number): Promise<void> => {
  const { queue } = world;
  const posted = ms === undefined ? queue.send(message, id) : queue.sendLater(message, id, ms);
  await posted.catch((cause: unknown) => {
    world.report("warn", "an update waits for the next resync", { key: textOf(message), error: String(cause) });
  });
};

/** The deduplication window of the queue, ms; a resync finds older updates. */
const rememberedMs = 300_000;
/** The earliest age of an update at which the message of a dead step can return, ms. */
const soonestAgainMs = 60_000;

/**
 * True if the step that saved the newest update may have died before it asked for a delivery, or may not know whether
 * its request arrived.
 */
const isDoubtful = ({ world, message, observation }: StepContext, outbox: Outbox): boolean => {
  const ageMs = observation.now - (newestOf(outbox)?.at ?? 0);
  if (ageMs >= rememberedMs) return false;
  if (world.updates?.asksAgain === true) return true;
  return ageMs >= soonestAgainMs || message.reason === "retry" || message.fresh === true;
};

/** Asks for a delivery of the saved updates; again under the same id if an earlier request is in doubt. */
export const requestDelivery = async (
  run: StepContext,
  before: Outbox | undefined,
  after: Outbox | undefined,
): Promise<void> => {
  if (after === undefined || run.world.updates === undefined) return;
  const position = positionText(positionOf(after));
  const isOld = before?.to === after.to && positionText(positionOf(before)) === position;
  if (isOld && !isDoubtful(run, after)) return;
  const key = deliveryKey(run.message);
  await post(run, { ...key, reason: "update" }, dedupe.timer(key, `append ${position} ${after.to}`));
};

const isGivenUp = ({ leftAt }: Outbox, now: number): boolean => leftAt !== undefined && now - leftAt >= longestLingerMs;

/**
 * Keeps the record of a plan that would forget until its updates are acknowledged, unless another object has the name.
 */
export const keptForUpdates = async (run: StepContext, held: StoredRecord, plan: StepPlan): Promise<StepPlan> => {
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

/**
 * Returns the record of the next object of the name with the updates left over from the old one; undefined if there are
 * none. The next object's steps do not wait for them.
 */
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

/** The time after which the removal of a record has happened or its step has died, ms. */
const dismissMs = 15_000;

/**
 * Sends the delivery key before the record is removed. Delivery keeps a record of its own and removes it when it finds
 * no record of the key.
 */
export const dismiss = async (run: StepContext, outbox: Outbox): Promise<void> => {
  const key = deliveryKey(run.message);
  const id = dedupe.timer(key, `forgotten ${outbox.stream} ${run.observation.now}`);
  await post(run, { ...key, reason: "forgotten" }, id, dismissMs);
};
