/**
 * Waits for changes that a message names to become visible. An admission webhook is called before its change is stored, so a step
 * that begins at once may read the old world, and consume the message. No constant delay is enough: the slowest of all webhooks
 * decides. A read of the object that shows another version than the one that the change replaces is enough.
 */
import { ApiError } from "../../core/http.ts";
import { dedupe, type Message, type Replaced, textOf } from "../../core/key.ts";
import type { StoredMetadata } from "../../core/object.ts";
import type { World } from "../context/world.ts";

/** The pauses before the looks of one step, ms: together less than half a second. */
const pausesMs = [0, 8, 17, 50, 100, 250] as const;

/** The delay of a message whose changes are not visible, ms, by its looks. After these its step begins all the same. */
const delaysMs = [1_000, 5_000] as const;

const placeOf = ({ group, plural, namespace, name }: Replaced): string => [group, plural, namespace, name].join("/");

/** The object as a look has found it: its metadata, gone, not known this time, or never to be known. */
type Look = StoredMetadata | "gone" | "unknown" | "hidden";

/** Reads an object of a change. Without the right to read it, or without its kind, no look will ever show anything. */
const lookAt = async ({ cluster }: World, { group, version, plural, namespace, name }: Replaced): Promise<Look> => {
  const resource = { group, version, plural, kind: plural };
  try {
    const ref = { resource, name, ...(namespace === "" ? {} : { namespace }) };
    return (await cluster.get(ref, "metadata")).value?.metadata ?? "gone";
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    return cause.status >= 400 && cause.status < 500 && cause.status !== 429 ? "hidden" : "unknown";
  }
};

/** True if the change, or a later one, is stored. */
const isStored = ({ uid, resourceVersion }: Replaced, look: Look | undefined): boolean => {
  if (look === undefined || look === "unknown") return false;
  if (look === "hidden") return true;
  if (look === "gone") return resourceVersion !== undefined;
  return look.uid !== uid || look.resourceVersion !== resourceVersion;
};

/** Looks once at the objects of all messages. Returns those with a change that is not visible. */
const stillEarly = async (world: World, messages: readonly Message[]): Promise<readonly Message[]> => {
  const places = new Map(messages.flatMap(({ after = [] }) => after.map((one) => [placeOf(one), one] as const)));
  const looks = new Map(
    await Promise.all([...places].map(async ([place, one]) => [place, await lookAt(world, one)] as const)),
  );
  return messages.filter(({ after = [] }) => !after.every((one) => isStored(one, looks.get(placeOf(one)))));
};

/** Separates the messages whose changes are visible from those that came too early, and waits a moment for these. */
export const visibleIn = async (
  world: World,
  messages: readonly Message[],
): Promise<{ readonly visible: readonly Message[]; readonly early: readonly Message[] }> => {
  let early: readonly Message[] = messages.filter(({ looks = 0 }) => looks < delaysMs.length);
  const { pause } = world.clock;
  for (const pauseMs of pause === undefined ? [0] : pausesMs) {
    if (early.length === 0) break;
    if (pauseMs > 0) await pause?.(pauseMs);
    early = await stillEarly(world, early);
  }
  return { visible: messages.filter((one) => !early.includes(one)), early };
};

/** Sends the messages again for a later look; those of as many looks as one message. */
export const putOff = async (
  { queue, clock }: World,
  early: readonly Message[],
  merged: (messages: readonly [Message, ...Message[]]) => Message,
): Promise<void> => {
  for (const [looks, delayMs] of delaysMs.entries()) {
    const [first, ...more] = early.filter((one) => (one.looks ?? 0) === looks);
    if (first === undefined) continue;
    const message = { ...merged([first, ...more]), looks: looks + 1 };
    const id = `look ${looks} ${textOf(message)} ${JSON.stringify(message.after)} ${clock.monotonic()}`;
    await queue.sendLater(message, dedupe.timer(message, id), delayMs);
  }
};
