/**
 * Finds the objects that a key owns, live, by the UIDs in owner references; and carries out a cleanup order: ends all
 * of them, first with grace, then by force, each object by its UID. The order is done when nothing is left.
 */
import { all, list, type Reads } from "../../core/decision.ts";
import { type Key, textOf } from "../../core/key.ts";
import type { Ref, Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import { type Effect, notYetRecorded, type OwnedObjects, type View } from "../../core/plan.ts";
import { counted } from "../../core/text.ts";
import { until } from "../../core/waiting-on.ts";
import { resultOf, stepReads } from "../cluster/queries.ts";
import type { StepPlan } from "../context/world.ts";
import type { CheckpointRecord, Cleanup, Cluster } from "../ports.ts";
import { settledMs, type Timing } from "../settings.ts";
import { type StatusMemo, statusPatch } from "../writes/status.ts";

type OwnedObject = { readonly ref: Ref; readonly object: Stored };

/** The results of the queries, in their order. */
type Found = readonly (readonly Stored[])[];

export type Survey = { readonly found: Found; readonly pieces: readonly OwnedObject[] };

const nothing: Survey = { found: [], pieces: [] };

type Query = OwnedObjects["queries"][number];

const resourceOf = (query: Query): Ref["resource"] => (query.do === "get" ? query.ref.resource : query.resource);

const refOf = (query: Query, { metadata: { name, namespace } }: Stored): Ref => ({
  resource: resourceOf(query),
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

const isOwned = ({ object }: OwnedObject, owners: ReadonlySet<string>): boolean =>
  object.metadata.ownerReferences?.some(({ uid }) => owners.has(uid)) ?? false;

/** Returns all objects that the owners own, directly or through other owned objects. */
const ownedIn = ({ queries, owners }: OwnedObjects, found: Found): readonly OwnedObject[] => {
  const there = queries.flatMap((query, index) =>
    (found[index] ?? []).map((object): OwnedObject => ({ ref: refOf(query, object), object })),
  );
  const known = new Set(owners);
  for (let before = -1; before < known.size; ) {
    before = known.size;
    for (const piece of there) if (isOwned(piece, known)) known.add(piece.object.metadata.uid);
  }
  return there.filter((piece) => isOwned(piece, known));
};

export type About = { readonly key: Key; readonly uid: string; readonly memory: unknown };

/** Reads all objects that may belong to this UID, according to its kind. */
export const findOwned = async (cluster: Cluster, operator: Operator<unknown>, about: About): Promise<Survey> => {
  const { recovery } = operator;
  if (recovery === undefined) return nothing;
  const ownedObjects = recovery.ownedObjects(about.key, about.uid, about.memory);
  const found = await resultOf(() => all(ownedObjects.queries.map(list)), stepReads(cluster), textOf(about.key));
  return { found, pieces: ownedIn(ownedObjects, found) };
};

/** Returns the objects that are live and not being deleted. */
export const livingIn = ({ pieces }: Survey, { recovery }: Operator<unknown>): readonly Ref[] =>
  pieces
    .filter(({ object }) => object.metadata.deletionTimestamp === undefined && recovery?.isLive(object) === true)
    .map(({ ref }) => ref);

export type CleanupContext = {
  readonly key: Key;
  readonly operator: Operator<unknown>;
  readonly cleanup: Cleanup;
  readonly timing: Timing;
  /** The status memo of the record: see writes/status.ts. */
  readonly memo: StatusMemo;
};

const pollMs = 2_000;

/** Returns the order that is still to be carried out. */
export const orderIn = (record: CheckpointRecord | undefined): Cleanup | undefined =>
  record?.cleanup?.done === undefined ? record?.cleanup : undefined;

export const cleanedUp = "everything it owned was ended by rekindle recover --mode cleanup";

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

/**
 * Returns why the key stays stopped after a cleanup; undefined if it does not, or if the kind records the cleanup in
 * its own memory.
 */
export const stoppedBy = (
  { recovery }: Operator<unknown>,
  record: CheckpointRecord | undefined,
  generation: number | undefined,
): string | undefined => {
  if (record?.cleanup?.done === undefined || recovery?.ended !== undefined) return undefined;
  if (record.generation !== generation) return undefined;
  return `${cleanedUp}: change its spec, or let it go on with rekindle recover`;
};
