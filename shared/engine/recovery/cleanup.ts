/**
 * Carries out a cleanup order: ends all objects that a key owns, first with grace, then by force, each object by its
 * UID. The order is done when nothing is left.
 */
import { all, list, type Reads } from "../../core/decision.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import { type Effect, notYetRecorded, type View } from "../../core/plan.ts";
import { counted } from "../../core/text.ts";
import { until } from "../../core/waiting-on.ts";
import type { StepPlan } from "../context/world.ts";
import type { Cleanup, StatusMemo } from "../ports.ts";
import { settledMs, type Timing } from "../settings.ts";
import { statusPatch } from "../writes/status.ts";
import { cleanedUp } from "./cleanup-order.ts";
import { type OwnedObject, ownedIn } from "./owned-objects.ts";

export type CleanupContext = {
  readonly key: Key;
  readonly operator: Operator<unknown>;
  readonly cleanup: Cleanup;
  readonly timing: Timing;
  /** The status memo of the record: see writes/status.ts. */
  readonly memo: StatusMemo;
};

const pollMs = 2_000;

/** Returns the deletion of an object. An object that is being deleted is deleted again only by force. */
const removalOf = (
  { ref, object }: OwnedObject,
  { graceSeconds, forceAt }: Cleanup,
  now: number,
): readonly Effect[] => {
  const { uid, deletionTimestamp } = object.metadata;
  if (now >= forceAt) return [{ do: "delete", ref, uid, graceSeconds: 0 }];
  return deletionTimestamp === undefined ? [{ do: "delete", ref, uid, graceSeconds }] : [];
};

/** Keeps the log of an object that `removalOf` deletes with grace. */
const logBefore = (
  { recovery }: Operator<unknown>,
  { ref, object }: OwnedObject,
  removals: readonly Effect[],
): readonly Effect[] => {
  const log = recovery?.logOf?.(object);
  const isGraceful = removals.some((effect) => effect.do === "delete" && effect.graceSeconds !== 0);
  return log === undefined || !isGraceful ? [] : [{ do: "keepLog", ref, uid: object.metadata.uid, log }];
};

/** The Event that the order was carried out; its name contains the time of the order. */
const cleanupEvent = ({ resource }: Operator<unknown>, about: Stored, { since }: Cleanup): Effect => ({
  ...{ do: "record", about, resource, occasion: `cleanup ${since}` },
  ...{ type: "Normal", reason: "RekindleCleanedUp", message: cleanedUp },
});

/**
 * Returns the plan that writes the last status, or the Event; undefined when both are done. They come before the order
 * is recorded as done, because no step of the order follows it.
 */
const farewell = (
  { operator, cleanup, memo }: CleanupContext,
  object: Stored,
  { memory, now, done = [] }: View<unknown>,
): StepPlan | undefined => {
  const status = operator.recovery?.emptied?.(object, memory, now, cleanedUp);
  if (status !== undefined && statusPatch(object, status, memo) !== undefined)
    return { memory, stages: [], status, next: { do: "again", waitsFor: until("its status", "shown") } };
  const news = notYetRecorded({ done }, [cleanupEvent(operator, object, cleanup)]);
  return news.length > 0 ? { memory, stages: [news], next: { do: "continue" } } : undefined;
};

const finished = (cleaning: CleanupContext, view: View<unknown>): StepPlan => {
  const { object, memory, now } = view;
  const left = object === undefined ? undefined : farewell(cleaning, object, view);
  const { recovery } = cleaning.operator;
  return (
    left ?? {
      memory: recovery?.ended?.(memory, now, cleanedUp) ?? memory,
      stages: [],
      closing: "cleanup",
      next: { do: "again" },
    }
  );
};

/** Decides the next plan of the order by the objects that exist. */
export function* clean(cleaning: CleanupContext, view: View<unknown>): Reads<StepPlan> {
  const { key, operator, cleanup, timing } = cleaning;
  const { uid, memory, now } = view;
  const { recovery } = operator;
  const ownedObjects = recovery?.ownedObjects(key, uid, memory) ?? { queries: [], owners: [] };
  const found = yield* all(ownedObjects.queries.map(list));
  const left = ownedIn(ownedObjects, found).filter(({ object }) => recovery?.isLive(object) === true);
  const settled = cleanup.since + settledMs(timing);
  if (left.length === 0 && now >= settled) return finished(cleaning, view);
  const ends = left.map((piece) => ({ piece, removals: removalOf(piece, cleanup, now) }));
  const logs = ends.flatMap(({ piece, removals }) => logBefore(operator, piece, removals));
  const stage = ends.flatMap(({ removals }) => removals);
  const waitsFor =
    left.length > 0
      ? until(counted(left.length, "object"), "ended", "cleanup")
      : until("the last submission", "settled");
  const wakeAt = left.length > 0 && now < cleanup.forceAt ? cleanup.forceAt : Math.max(now + pollMs, settled);
  const stages = [logs, stage].filter((one) => one.length > 0);
  return { memory, stages, next: { do: "wait", wakeAt, pollMs, waitsFor } };
}
