/**
 * The one status write of a step, at its end, only if the status differs from what the last write was answered. A plan
 * whose status holds everything to remember (`Safety.statusIsRecord`) needs no record: its status write is the lock,
 * because the server refuses it if the object has changed since it was read. The effects follow it, so the loser has
 * touched nothing.
 */

import { ApiError } from "../../core/http.ts";
import { digestOf, mergePatch, same } from "../../core/json.ts";
import { keptMarks } from "../../core/marks.ts";
import type { Ref, Stored } from "../../core/object.ts";
import type { Plan } from "../../core/plan.ts";
import { timelineUntroubled } from "../checkpoint/timeline.ts";
import { meterStatus, objectRef, presentTime, type StepContext, type StoredRecord } from "../context/world.ts";
import type { CheckpointRecord, Cluster, StatusMemo } from "../ports.ts";

/**
 * Returns the patch that is still to be written, or undefined. If a CRD prunes fields, the server keeps a different
 * status than the plan desires; then the record holds both digests, and the same pair needs no write.
 */
export const statusPatch = (object: Stored, desired: unknown, memo: StatusMemo): unknown => {
  const there = object.status ?? {};
  if (same(there, desired)) return undefined;
  if (memo !== undefined && memo.wished === digestOf(desired) && memo.answered === digestOf(there)) return undefined;
  return mergePatch(there, desired);
};

const named = ({ resource: { kind } }: Ref, cause: unknown): never => {
  if (!(cause instanceof ApiError)) throw cause;
  const { status, reason, message, retryAfterMs } = cause;
  const doing = { do: "status", kind } as const;
  throw new ApiError({
    ...{ status, reason, message, cause, doing },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
};

/**
 * Returns the answer with the spec of the object that was read: a write of the status leaves it as it is, and what was
 * derived from that spec is not derived again.
 */
const withSpecOf = (object: Stored, answer: Stored): Stored => {
  const { generation, uid } = answer.metadata;
  const isSame = generation !== undefined && generation === object.metadata.generation && uid === object.metadata.uid;
  return isSame && "spec" in object && "spec" in answer ? { ...answer, spec: object.spec } : answer;
};

/** Writes the patch. Returns the object, and the memo to keep if the server kept a different status. */
const writeStatus = async (
  cluster: Cluster,
  ref: Ref,
  object: Stored,
  change: { readonly patch: unknown; readonly desired: unknown },
): Promise<{ readonly memo: StatusMemo; readonly object: Stored }> => {
  const answer = await cluster
    .patchStatus(ref, object.metadata.resourceVersion, change.patch)
    .catch((cause: unknown) => named(ref, cause));
  const kept = answer.status ?? {};
  const written = withSpecOf(object, answer);
  if (same(kept, change.desired)) return { memo: undefined, object: written };
  return { memo: { wished: digestOf(change.desired), answered: digestOf(kept) }, object: written };
};

/** `memo` is absent if the server kept the whole status. */
type Written = Awaited<ReturnType<typeof writeStatus>>;

/**
 * True if a later record exists. A step that saved nothing, or that has outlived its fence, may follow an outdated
 * record and would write an outdated status. One check after the object was read is enough: the status of a later
 * record is written later, and then the object has another resourceVersion.
 */
const isOvertaken = async (
  { world, message, observation, began }: StepContext,
  held: StoredRecord,
): Promise<boolean> => {
  const isLate = world.clock.monotonic() > began + world.timing.fenceMs;
  if (held.version !== observation.version && !isLate) return false;
  return (await world.checkpoints.load(message))?.version !== held.version;
};

const writeNews = async (
  run: StepContext,
  held: StoredRecord,
  plan: Plan<unknown>,
): Promise<Written | "raced" | undefined> => {
  const { world, message, operator, observation } = run;
  const { object } = observation;
  const { status: desired } = plan;
  if (desired === undefined || object === undefined) return undefined;
  const patch = statusPatch(object, desired, held.record?.status);
  if (patch === undefined) return undefined;
  if (await isOvertaken(run, held)) return "raced";
  const written = await writeStatus(world.cluster, objectRef(message, operator), object, { patch, desired });
  meterStatus(run, object, desired);
  return written;
};

/** `object` is as the status write left it. */
type StatusWritten = { readonly held: StoredRecord; readonly writes: number; readonly object: Stored | undefined };

/** Ends a step that succeeded: writes the status, saves the status memo, and removes the trouble from the record. */
export const tell = async (
  run: StepContext,
  held: StoredRecord,
  plan: Plan<unknown>,
): Promise<StatusWritten | "raced"> => {
  const written = await writeNews(run, held, plan);
  if (written === "raced") return "raced";
  const writes = written === undefined ? 0 : 1;
  const object = written?.object ?? run.observation.object;
  if (held.record === undefined || plan.next.do === "forget") return { held, writes, object };
  const { trouble, ...record } = held.record;
  if (written?.memo === undefined && trouble === undefined) return { held, writes, object };
  const next: CheckpointRecord = {
    ...record,
    saves: record.saves + 1,
    timeline: timelineUntroubled(held.record, presentTime(run)),
    ...(plan.next.do === "rest" ? { rests: true, ...keptMarks(run.observation.object) } : {}),
    ...(written?.memo === undefined ? {} : { status: written.memo }),
  };
  const version = await run.world.checkpoints.save(run.message, next, held.version);
  return version === "raced" ? "raced" : { held: { record: next, version }, writes: writes + 1, object };
};

/**
 * True if the plan has effects other than Events. Only the winner may carry these out, because an outdated memory can
 * plan deletions that are wrong for the present state.
 */
export const acts = ({ stages }: Plan<unknown>): boolean => stages.flat().some((effect) => effect.do !== "record");

/** True if the object has a listener. Its updates are stored with a save, so its key needs a record. */
const isListenedTo = async ({ world, message, observation }: StepContext): Promise<boolean> =>
  (await world.updates?.destinationOf(message, observation.object?.metadata.annotations)) !== undefined;

/** True if there is no record, and this plan is no reason to create one. */
export const needsNone = async (run: StepContext, held: StoredRecord, plan: Plan<unknown>): Promise<boolean> => {
  if (plan.safety?.statusIsRecord !== true || held.version !== undefined || plan.next.do === "forget") return false;
  return (run.shown === plan || !acts(plan)) && !(await isListenedTo(run));
};

/**
 * Writes the status first if it is the lock of this plan. Returns the context to go on with, or "raced" if the object
 * has changed.
 */
export const showFirst = async (
  run: StepContext,
  held: StoredRecord,
  plan: Plan<unknown>,
): Promise<StepContext | "raced"> => {
  const { world, message, operator, observation } = run;
  const { object } = observation;
  if (plan.safety?.statusIsRecord !== true || !acts(plan) || held.version !== undefined || object === undefined)
    return run;
  const patch = statusPatch(object, plan.status, undefined);
  if (patch === undefined || (await isListenedTo(run))) return run;
  try {
    const written = await writeStatus(world.cluster, objectRef(message, operator), object, {
      patch,
      desired: plan.status,
    });
    meterStatus(run, object, plan.status ?? {});
    const shown = { ...run, observation: { ...observation, object: written.object } };
    // A status that the server did not keep whole cannot replace the record.
    return written.memo === undefined ? { ...shown, shown: plan } : shown;
  } catch (cause) {
    if (cause instanceof ApiError && cause.status === 409) return "raced";
    throw cause;
  }
};
