/**
 * Requeues keys: after a plan that waits, after a lost race, and after trouble. A requeue is only a message for the
 * same key.
 */
import { ApiError } from "../../core/http.ts";
import { mergePatch, omit } from "../../core/json.ts";
import { dedupe, groupOf, type Key, longestDelayMs, type Message, textOf, timerReason } from "../../core/key.ts";
import { refText } from "../../core/object.ts";
import { type Effect, type Plan, type PlannedStatus, type Trouble, waitOf } from "../../core/plan.ts";
import { timelineKept } from "../checkpoint/timeline.ts";
import { applyStage } from "../cluster/apply.ts";
import {
  applyContextOf,
  type Ending,
  meterStatus,
  objectRef,
  presentTime,
  type StepContext,
  type StoredRecord,
  type World,
} from "../context/world.ts";
import { isRightOnWatched } from "../reads/freshness.ts";
import { backoffMs, internal, isPatient, namespaceEnds, quarantined } from "../trouble.ts";

const keyOf = ({ cluster, kind, namespace, name }: Key): Key => ({ cluster, kind, namespace, name });

/** Removes `fresh`: a retried message may have reached a save; and the standbys, which are over. */
export const known = (message: Message): Message => omit(message, "fresh", "standbys");

/**
 * Returns the first slot of the key after `now`. Slots are `everyMs` apart, and on whole seconds, as the server's Date
 * is. Steps of one key share them, so that their timers have one id, and the queue keeps one of these.
 */
const slotAfter = (key: Key, now: number, everyMs: number): number => {
  const offset = (Number.parseInt(groupOf(key).slice(0, 8), 16) * 1_000) % everyMs;
  return (Math.floor((now - offset) / everyMs) + 1) * everyMs + offset;
};

/** A timer may fire this late, ms, and the chain of polls skips no slot. */
const lateMs = 2_000;

/** Returns the slot of the next poll: about `everyMs` away, so that an object that changes sooner costs no poll. */
export const pollAt = (key: Key, now: number, everyMs: number): number =>
  slotAfter(key, now + Math.max(0, everyMs - lateMs), everyMs);

/**
 * Sends the message or timer for what comes next. R2: `wakeAt` in the record is authoritative, and no step believes the
 * instant in a timer.
 */
export const scheduleNext = async (run: StepContext, held: StoredRecord, plan: Plan<unknown>): Promise<void> => {
  const { world, message, operator, observation } = run;
  const key = keyOf(message);
  // If this plan is right on watched objects, the next step may begin with them, too.
  const watched = isRightOnWatched(plan, operator) ? ({ watched: true } as const) : {};
  if (plan.next.do === "again" || (plan.next.do === "forget" && observation.successor))
    await world.queue.send({ ...key, reason: "again", ...watched }, unique(run, `again ${held.record?.saves ?? 0}`));
  if (plan.next.do === "forget") return;
  const { wakeAt: due = Number.POSITIVE_INFINITY, pollMs } = waitOf(plan);
  const polls = pollMs === undefined ? Number.POSITIVE_INFINITY : pollAt(key, observation.now, pollMs);
  const wakeAt = Math.min(due, polls);
  const delayMs = Math.max(1_000, wakeAt - observation.now);
  if (delayMs > longestDelayMs) return;
  // A timer that came too early is set again, under another id, because the queue would drop the first id.
  const early = message.due === wakeAt ? ` ${observation.now}` : "";
  const timer = { ...key, reason: timerReason, due: wakeAt };
  await world.queue.sendLater(timer, dedupe.timer(key, `wake ${wakeAt}${early}`), delayMs);
};

/**
 * Requeues the key after 1 s: another step has saved from the same record, and it may have read an older state than
 * this message is about.
 */
export const requeueAfterRace = async (run: StepContext): Promise<Ending> => {
  const { world, message } = run;
  const id = unique(run, `raced ${run.observation.record?.saves ?? 0} ${message.tries ?? 0}`);
  await world.queue.sendLater({ ...known(message), reason: "raced" }, id, 1_000);
  return { did: "raced" };
};

/** Returns an id that only a copy of the same sending shares, so that the queue's deduplication drops nothing else. */
const unique = ({ world, message, observation }: StepContext, why: string): string =>
  dedupe.timer(
    keyOf(message),
    `${why} ${observation.object?.metadata.resourceVersion ?? observation.uid} ${observation.now} ${world.clock.monotonic()}`,
  );

/**
 * True of a trouble that is published at once: it has been met repeatedly, is a quarantine, or asks for a long wait.
 */
const isLasting = ({ tries = 0 }: Message, { reason, retryAfterMs = 0 }: Trouble): boolean =>
  tries >= 2 || reason === quarantined || retryAfterMs >= longestRetryMs;

/** The age of a step's first read, ms, after which its trouble may be over. */
const oldestMs = 50_000;

/**
 * Requeues the key after trouble. A lasting trouble is kept in the record and published as an Event, so that people see
 * the cause. A step that stood still publishes nothing: the next one finds out what holds then.
 */
export const requeueAfterTrouble = async (
  run: StepContext,
  held: StoredRecord,
  trouble: Trouble,
  plan?: Plan<unknown>,
): Promise<Ending> => {
  const before = held.record?.trouble;
  const lasts = isLasting(run.message, trouble) || before !== undefined;
  const isOld = run.world.clock.monotonic() - run.looked > oldestMs;
  if (lasts && !isOld && trouble.reason !== namespaceEnds && run.world.shadow === undefined)
    await publishTrouble(run, held, trouble, plan);
  const lastedMs = before?.reason === trouble.reason ? run.observation.now - before.since : 0;
  return await requeue(run.world, run.message, trouble, { now: run.observation.now, lastedMs });
};

/** True if the same trouble is published already; texts that differ in their numbers only count as the same. */
const isPublished = ({ record }: StoredRecord, { reason, message }: Trouble): boolean => {
  const gist = (text: string): string => text.slice(0, 1024).replaceAll(/\d+/g, "#");
  return record?.trouble?.reason === reason && gist(record.trouble.message) === gist(message);
};

/**
 * Writes a Warning event about the object, once per occasion. Returns the trouble that prevented it, while that is
 * worth a retry.
 */
export const warn = async (run: StepContext, occasion: string, trouble: Trouble): Promise<Trouble | undefined> => {
  const { message: call, operator, observation } = run;
  if (observation.object === undefined) return undefined;
  const about = { do: "record", about: observation.object, resource: operator.resource } as const;
  const { reason, message } = operator.troubleWord?.(trouble) ?? trouble;
  const event = { ...about, occasion, type: "Warning", reason, message: message.slice(0, 1024) } as const;
  const [recorded] = await applyStage(applyContextOf(run, Number.POSITIVE_INFINITY), [event], 1);
  return recorded?.did === "troubled" && isPatient(call) ? recorded.trouble : undefined;
};

const verbs = { delete: "deleted", evict: "evicted", patch: "changed", keepLog: "looked at the log of" } as const;

/** Reports the effects of a stage: Events at level info, other effects at level debug. */
export const logEffects = ({ world, message }: StepContext, stage: readonly Effect[]): void => {
  const key = textOf(message);
  for (const effect of stage) {
    world.witness?.(message, effect);
    if (effect.do === "record") world.report("info", effect.message, { key, reason: effect.reason });
    else if (effect.do === "create")
      world.report("debug", `created ${effect.resource.plural} ${effect.object.metadata.name}`, { key });
    else
      world.report("debug", `${verbs[effect.do]} ${refText(effect.ref)}`, {
        key,
        uid: effect.uid,
      });
  }
};

/**
 * Writes the trouble into the object's status, if its kind has a place for it. An ApiError is ignored; a later step
 * writes the status again.
 */
export const showTrouble = async (run: StepContext, text: string, planned?: PlannedStatus): Promise<void> => {
  const { world, message, operator, observation } = run;
  const { object } = observation;
  const desired = object === undefined ? undefined : operator.heldUp?.(object, text, planned);
  if (object === undefined || desired === undefined) return;
  const patch = mergePatch(object.status ?? {}, desired);
  const { resourceVersion } = object.metadata;
  try {
    if (patch === undefined) return;
    await world.cluster.patchStatus(objectRef(message, operator), resourceVersion, patch);
    meterStatus(run, object, desired);
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
  }
};

/**
 * Publishes a trouble once, and shows the status of the plan that met it: a trouble of one effect does not keep the
 * status from saying what is.
 */
export const publishTrouble = async (
  run: StepContext,
  held: StoredRecord,
  trouble: Trouble,
  plan?: Plan<unknown>,
): Promise<void> => {
  const { world, message, observation } = run;
  // A status that is the record counts pods that this trouble may have prevented.
  const planned = plan?.safety?.statusIsRecord === true ? undefined : plan?.status;
  if (observation.object === undefined) return;
  if (isPublished(held, trouble)) return await showTrouble(run, held.record?.trouble?.message ?? "", planned);
  const text = trouble.message.slice(0, 1024);
  const now = presentTime(run);
  await warn(run, `trouble ${held.record?.saves ?? 0}`, trouble);
  await showTrouble(run, text, planned);
  if (held.record === undefined) return;
  const lasting = { reason: trouble.reason, message: text, since: held.record.trouble?.since ?? now };
  const { rests: _, ...unfinished } = held.record;
  const timeline = timelineKept(held.record, now);
  const record = { ...unfinished, saves: held.record.saves + 1, timeline, trouble: lasting };
  await world.checkpoints.save(message, record, held.version);
};

/** The longest wait after a trouble, ms, unless the server asks for more. */
export const longestRetryMs = 300_000;

type Wait = { readonly delayMs: number; readonly id: string };

/** `now` is the server's clock, on which all processes agree; `lastedMs` is the age of the trouble by that clock. */
type Since = { readonly now: number; readonly lastedMs: number };

/** The parts of a world that a requeue needs: neither cluster nor checkpoints. */
export type RequeueContext = Pick<World, "queue" | "report" | "clock" | "within">;

/**
 * The wait before the next try. Late retries of one key share slots, so that another message that meets the same trouble
 * (a resync, an event) adds no second chain of retries.
 */
const waitFor = (world: RequeueContext, message: Message, trouble: Trouble, { now, lastedMs }: Since): Wait => {
  const tries = message.tries ?? 0;
  const delayMs = Math.max(backoffMs(message, tries, trouble.retryAfterMs), Math.min(lastedMs, longestRetryMs));
  if (delayMs < longestRetryMs)
    return { delayMs, id: `retry ${tries} ${trouble.reason} ${now} ${world.clock.monotonic()}` };
  const slot = slotAfter(message, now + Math.max(trouble.retryAfterMs ?? 0, longestRetryMs / 2), longestRetryMs);
  return { delayMs: Math.min(longestDelayMs, slot - now), id: `retry at ${slot}` };
};

/**
 * Requeues a key after trouble and so acknowledges its message; the application spends no retry. The wait grows with
 * the age of the trouble, also for a new message that meets it.
 */
export const requeue = async (
  world: RequeueContext,
  message: Message,
  trouble: Trouble,
  since: Since = { now: world.clock.monotonic(), lastedMs: 0 },
): Promise<Ending> => {
  const tries = message.tries ?? 0;
  const { delayMs, id } = waitFor(world, message, trouble, since);
  const { reason, message: text } = trouble;
  const lasts = isLasting(message, trouble) || since.lastedMs > 0;
  const isQuiet = !lasts || reason === namespaceEnds;
  const level = reason === internal ? "error" : isQuiet ? "debug" : "warn";
  world.report(level, reason === internal ? "a step failed, trying again" : "held up by the platform, trying again", {
    key: textOf(message),
    reason,
    message: text,
    tries,
    delayMs,
  });
  const again = { ...known(message), reason: "retry", tries: tries + 1 };
  await world.queue.sendLater(again, dedupe.timer(message, id), delayMs);
  return { did: "troubled", reason, message: text };
};
