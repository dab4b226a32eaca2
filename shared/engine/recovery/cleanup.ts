/**
 * Carrying out the order to end everything that a key owns: with grace, then by force, each by its UID; and when nothing
 * is left, and nothing that was planned before the order can still arrive, that is recorded. Pure.
 */

import { counted } from "../../core/counted.ts";
import { all, list, type Reads } from "../../core/decision.ts";
import type { Key } from "../../core/key.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Effect, View } from "../../core/plan.ts";
import { untold } from "../../core/plan.ts";
import { until } from "../../core/waiting-on.ts";
import type { StepPlan } from "../context.ts";
import type { CheckpointRecord, Cleanup } from "../ports.ts";
import { settledMs, type Timing } from "../settings.ts";
import { type StatusMemo, statusPatch } from "../status.ts";
import { type OwnedObject, ownedIn } from "./owned-objects.ts";

export type CleanupContext = {
  readonly key: Key;
  readonly operator: Operator<unknown>;
  readonly cleanup: Cleanup;
  readonly timing: Timing;
  /** Of the record: what the server made of the last status. */
  readonly memo: StatusMemo;
};

const pollMs = 2_000;

/** The order that is still to be carried out. */
export const orderIn = (record: CheckpointRecord | undefined): Cleanup | undefined =>
  record?.cleanup?.done === undefined ? record?.cleanup : undefined;

export const cleanedUp = "everything it owned was ended by rekindle recover --mode cleanup";

/** What has been asked to go with grace is asked again only by force. */
const removalOf = (
  { ref, object }: OwnedObject,
  { graceSeconds, forceAt }: Cleanup,
  now: number,
): readonly Effect[] => {
  const { uid, deletionTimestamp } = object.metadata;
  if (now >= forceAt) return [{ do: "delete", ref, uid, graceSeconds: 0 }];
  return deletionTimestamp === undefined ? [{ do: "delete", ref, uid, graceSeconds }] : [];
};

/** The event that the order was carried out; its name holds when the order was given. */
const toldOf = ({ resource }: Operator<unknown>, about: Stored, { since }: Cleanup): Effect => ({
  ...{ do: "record", about, resource, occasion: `cleanup ${since}` },
  ...{ type: "Normal", reason: "RekindleCleanedUp", message: cleanedUp },
});

/** What is still to be shown or told of an object whose parts have all ended: before that is recorded, for nothing is after it. */
const farewell = (
  { operator, cleanup, memo }: CleanupContext,
  object: Stored,
  { memory, now, done = [] }: View<unknown>,
): StepPlan | undefined => {
  const status = operator.recovery?.emptied?.(object, memory, now, cleanedUp);
  if (status !== undefined && statusPatch(object, status, memo) !== undefined)
    return { memory, stages: [], status, next: { do: "again", waitsFor: until("its status", "shown") } };
  const news = untold({ done }, [toldOf(operator, object, cleanup)]);
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

/** Decides what of the order is still to be done, by what is there. */
export function* clean(cleaning: CleanupContext, view: View<unknown>): Reads<StepPlan> {
  const { key, operator, cleanup, timing } = cleaning;
  const { uid, memory, now } = view;
  const { recovery } = operator;
  const ownedObjects = recovery?.ownedObjects(key, uid, memory) ?? { queries: [], owners: [] };
  const found = yield* all(ownedObjects.queries.map(list));
  const left = ownedIn(ownedObjects, found).filter(({ object }) => recovery?.isLive(object) === true);
  const settled = cleanup.since + settledMs(timing);
  if (left.length === 0 && now >= settled) return finished(cleaning, view);
  const stage = left.flatMap((piece) => removalOf(piece, cleanup, now));
  const waitsFor =
    left.length > 0
      ? until(counted(left.length, "object"), "ended", "cleanup")
      : until("the last submission", "settled");
  const wakeAt = left.length > 0 && now < cleanup.forceAt ? cleanup.forceAt : Math.max(now + pollMs, settled);
  return { memory, stages: stage.length === 0 ? [] : [stage], next: { do: "wait", wakeAt, pollMs, waitsFor } };
}

/** Why nothing is done for a key any more; a kind that can tell so in its memory goes on by that. */
export const stoppedBy = (
  { recovery }: Operator<unknown>,
  record: CheckpointRecord | undefined,
  generation: number | undefined,
): string | undefined => {
  if (record?.cleanup?.done === undefined || recovery?.ended !== undefined) return undefined;
  if (record.generation !== generation) return undefined;
  return `${cleanedUp}: change its spec, or let it go on with rekindle recover`;
};
