/**
 * Applies the effects of a plan: one applier per kind of effect, each safe to run twice, none started after the fence.
 *
 * Keeps R3: every effect is fenced and idempotent, so deciding it twice does it once.
 */

import { eventOf, events } from "../../core/event.ts";
import { ApiError, assertNever } from "../../core/http.ts";
import { fieldsOf } from "../../core/json.ts";
import { attemptLabel, type Obj, type Resource, refText, refTo, type Stored } from "../../core/object.ts";
import { type Doing, type Effect, kindOf, type Refusal, type Trouble, wholeOf } from "../../core/plan.ts";
import type { Chance, Clock, Cluster } from "../ports.ts";
import { denialOf, isRefusal, namespaceEnds, troubleOf } from "../trouble.ts";
import type { Within } from "./queries.ts";

/** The dependencies of the appliers. `until` is the fence on the monotonic clock: no effect starts after it. */
export type ApplyContext = {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly until: number;
  /** The API server's clock at the step's first read, epoch ms. */
  readonly now: number;
  /** The component that the Events name as their source; absent: Rekindle's own. */
  readonly component?: string | undefined;
  /** Id of the trace that the Events carry; absent: none. */
  readonly trace?: string | undefined;
  /** Called with each created object, as the server answered it. */
  readonly made?: ((resource: Resource, object: Stored) => void) | undefined;
  /** Makes the secret values of a created object: see `Chance`. */
  readonly chance?: Chance | undefined;
  /** Builds the body of an object to create, within the budget of a decision; absent: builds it directly. */
  readonly within?: Within | undefined;
  /** Keeps the end of a pod's log; absent where no plan asks for it. */
  readonly keepLog?: ((effect: Extract<Effect, { do: "keepLog" }>) => Promise<Done>) | undefined;
};

export type Done =
  | { readonly did: "done" }
  | { readonly did: "refused"; readonly refusal: Refusal }
  /** An optional effect was skipped; the step goes on, and reports a skipped creation. */
  | { readonly did: "passed"; readonly trouble: Trouble }
  | { readonly did: "troubled"; readonly trouble: Trouble };

const done: Done = { did: "done" };

type Appliers = { [D in Effect["do"]]: (context: ApplyContext, effect: Extract<Effect, { do: D }>) => Promise<Done> };

type Creation = Extract<Effect, { do: "create" }>;

/** An owner reference with the owner's UID proves ownership; a label alone does not, because any client can set it. */
const ownedBy = (object: Obj, uid: string): boolean =>
  object.metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;

const refused = (effect: Effect, error: { status: number; reason: string; message: string }): Done => ({
  did: "refused",
  refusal: { effect, status: error.status, reason: error.reason, message: error.message },
});

const attemptIn = (object: Obj): string | undefined => object.metadata.labels?.[attemptLabel];

/**
 * True for an object of the creation's own attempt. A Service or an Ingress without the label is one that upstream or an
 * earlier release created, and serves every attempt; a pod without it runs, so it is another's.
 */
const isSameAttempt = (object: Obj, there: Stored): boolean =>
  attemptIn(there) === attemptIn(object) || (attemptIn(there) === undefined && object.kind !== "Pod");

/**
 * Handles AlreadyExists: adopts the object if it is of the same attempt (the effect ran before), and answers with a
 * refusal if another owner has the name. An object of an earlier attempt is deleted: its creation arrived after that
 * attempt was cleared, so nothing else deletes it, and its text is the earlier attempt's.
 */
const whose = async (context: ApplyContext, effect: Creation, object: Obj): Promise<Done> => {
  const ref = refTo(effect.resource, effect.object);
  const { value: there } = await context.cluster.get(ref);
  if (there === undefined)
    return wait("Vanishing", `${refText(ref)} existed already, and was deleted before this step could read it`);
  if (effect.shared === true) return done;
  const { uid, deletionTimestamp } = there.metadata;
  const isEnding = deletionTimestamp !== undefined;
  if (!ownedBy(there, effect.owner)) {
    if (isEnding) return wait("StillThere", `${refText(ref)} of another owner is still being deleted`);
    const message = `${refText(ref)} exists and belongs to another owner; delete it or choose another name`;
    return refused(effect, { status: 409, reason: "NameTaken", message });
  }
  if (isSameAttempt(object, there)) return done;
  const isEarlier = Number(attemptIn(there)) < Number(attemptIn(object));
  if (!isEnding && isEarlier && context.clock.monotonic() <= context.until) await context.cluster.remove(ref, { uid });
  return wait("StillThere", `${refText(ref)} of another attempt is still there`);
};

const wait = (reason: string, message: string): Done => ({ did: "troubled", trouble: { reason, message } });

/**
 * Returns the whole object with its random secret values. A create succeeds only where no object exists, so the values
 * are stored once.
 */
const whole = async ({ chance, within = (work) => work() }: ApplyContext, effect: Creation): Promise<Obj> => {
  const { fresh, body } = effect;
  const object = body === undefined ? effect.object : await within(() => wholeOf(effect));
  if (fresh === undefined) return object;
  if (chance === undefined) throw new Error(`this deployment creates no ${fresh}`);
  return { ...object, data: { ...fieldsOf(object["data"]), ...(await chance(fresh)) } };
};

/** Sends a refused create a second time, so that one wrong answer does not end an application. */
const createTwice = async (context: ApplyContext, effect: Creation, object: Obj): Promise<Done> => {
  const once = async (): Promise<Done> => {
    const stored = await context.cluster.create(refTo(effect.resource, effect.object), object);
    context.made?.(effect.resource, stored);
    return done;
  };
  try {
    return await once();
  } catch (cause) {
    if (!(cause instanceof ApiError) || !isRefusal(cause)) throw cause;
  }
  return context.clock.monotonic() > context.until ? late : await once();
};

const late: Done = wait("Late", "this step was delayed for longer than its fence allows; the next step decides again");

const create = async (context: ApplyContext, effect: Creation): Promise<Done> => {
  const object = await whole(context, effect);
  // A body waits for its turn among the decisions of other keys.
  if (effect.body !== undefined && context.clock.monotonic() > context.until) return late;
  try {
    return await createTwice(context, effect, object);
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    if (cause.status === 409 && cause.reason === "AlreadyExists") return await whose(context, effect, object);
    if (isRefusal(cause)) return refused(effect, cause);
    const denial = effect.limited === true ? denialOf(cause) : undefined;
    if (denial === undefined) throw cause;
    return refused(effect, { status: cause.status, reason: denial, message: cause.message });
  }
};

/** True of 403 and 404: missing rights, used-up quota and unserved kinds are the same for the next tries. */
const isDenied = (cause: unknown): cause is ApiError =>
  cause instanceof ApiError && (cause.status === 403 || cause.status === 404);

/** Tries an optional creation; whatever the server refuses or denies is skipped. */
const createIfAllowed = async (context: ApplyContext, effect: Creation): Promise<Done> => {
  try {
    const result = await create(context, effect);
    if (result.did !== "refused") return result;
    const { reason, message } = result.refusal;
    return { did: "passed", trouble: { reason, message } };
  } catch (cause) {
    if (!isDenied(cause) || troubleOf(cause).reason === namespaceEnds) throw cause;
    return { did: "passed", trouble: troubleOf(cause) };
  }
};

/** Tries an optional effect twice: a lasting reason skips it at once, and a single wrong answer does not. */
const tryTwice = async (context: ApplyContext, once: () => Promise<Done>): Promise<Done> => {
  const first = await once();
  if (first.did !== "passed" || context.clock.monotonic() > context.until) return first;
  const second = await once();
  // If the two answers differ, neither is trusted.
  const agree = second.did !== "passed" || second.trouble.reason === first.trouble.reason;
  return agree ? second : { did: "troubled", trouble: second.trouble };
};

/**
 * Writes the `lastWord` of a deletion into the status of the object. Returns the resourceVersion that the deletion then
 * requires, so that no other write comes in between.
 */
const lastWord = async (
  { cluster }: ApplyContext,
  { ref, resourceVersion, lastWord: word }: Extract<Effect, { do: "delete" }>,
): Promise<string | undefined> => {
  if (word === undefined || resourceVersion === undefined) return resourceVersion;
  try {
    return (await cluster.patchStatus(ref, resourceVersion, word)).metadata.resourceVersion;
  } catch (cause) {
    // Without the right to write the status, the object is deleted without it.
    if (isDenied(cause)) return resourceVersion;
    throw cause;
  }
};

const remove = async (context: ApplyContext, effect: Extract<Effect, { do: "delete" }>): Promise<Done> => {
  const { uid, graceSeconds } = effect;
  const resourceVersion = await lastWord(context, effect);
  if (context.clock.monotonic() > context.until) return late;
  await context.cluster.remove(effect.ref, {
    uid,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
  });
  return done;
};

/** Statuses of an eviction that a later step tries again: a budget, two budgets, or a missing right forbids it. */
const forbidding: readonly number[] = [403, 429, 500];

const evict = async (context: ApplyContext, { ref, uid }: Extract<Effect, { do: "evict" }>): Promise<Done> => {
  try {
    await context.cluster.evict(ref, uid);
    return done;
  } catch (cause) {
    if (!(cause instanceof ApiError) || !forbidding.includes(cause.status)) throw cause;
    return { did: "passed", trouble: { reason: "EvictionRefused", message: troubleOf(cause).message } };
  }
};

/**
 * Sends a patch. If the object has changed since it was read, the server answers 409; that is a trouble, and the next
 * step decides again.
 */
const patch = async (context: ApplyContext, effect: Extract<Effect, { do: "patch" }>): Promise<Done> => {
  const { ref, uid, resourceVersion } = effect;
  try {
    if (effect.subresource === "status") await context.cluster.patchStatus(ref, resourceVersion, effect.patch);
    else await context.cluster.patch(ref, { uid, resourceVersion }, effect.patch);
    return done;
  } catch (cause) {
    if (effect.optional === true && isDenied(cause)) return { did: "passed", trouble: troubleOf(cause) };
    if (cause instanceof ApiError && isRefusal(cause)) return refused(effect, cause);
    throw cause;
  }
};

/**
 * Writes an Event. An Event that the server refuses, forbids or already has is not sent again, because Events must not
 * hold up effects.
 */
const record = async (context: ApplyContext, effect: Extract<Effect, { do: "record" }>): Promise<Done> => {
  const { component, trace, now } = context;
  const input = { ...effect, about: effect.about.metadata, subject: effect.resource, component, trace };
  const event = eventOf(input, now);
  const { name, namespace } = event.metadata;
  try {
    await context.cluster.create({ resource: events, name, ...(namespace ? { namespace } : {}) }, event);
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    if (cause.status === 409 || isRefusal(cause) || cause.status === 403 || cause.status === 404) return done;
    throw cause;
  }
  return done;
};

const keepLog = async ({ keepLog: keep }: ApplyContext, effect: Extract<Effect, { do: "keepLog" }>): Promise<Done> => {
  if (keep === undefined) throw new Error("this deployment keeps no logs");
  return await keep(effect);
};

const appliers: Appliers = {
  create: (context, effect) =>
    effect.optional === true ? tryTwice(context, () => createIfAllowed(context, effect)) : create(context, effect),
  delete: remove,
  evict,
  keepLog,
  patch: (context, effect) =>
    effect.optional === true ? tryTwice(context, () => patch(context, effect)) : patch(context, effect),
  record,
};

const run = (context: ApplyContext, effect: Effect): Promise<Done> => {
  switch (effect.do) {
    case "create":
      return appliers.create(context, effect);
    case "delete":
      return appliers.delete(context, effect);
    case "evict":
      return appliers.evict(context, effect);
    case "keepLog":
      return appliers.keepLog(context, effect);
    case "patch":
      return appliers.patch(context, effect);
    case "record":
      return appliers.record(context, effect);
    default:
      return assertNever(effect);
  }
};

const doingOf = (effect: Effect): Doing => ({ do: effect.do, kind: kindOf(effect) });

/**
 * Applies one effect, unless the fence has passed (R3: a step that was paused too long after its save writes nothing).
 */
export const apply = async (context: ApplyContext, effect: Effect): Promise<Done> => {
  if (context.clock.monotonic() > context.until) return late;
  try {
    return await run(context, effect);
  } catch (cause) {
    return { did: "troubled", trouble: { ...troubleOf(cause), doing: doingOf(effect) } };
  }
};

/** Applies all effects of a stage, at most `parallel` at once. After an answer that the namespace terminates, it creates no more. */
export const applyStage = async (
  context: ApplyContext,
  stage: readonly Effect[],
  parallel: number,
): Promise<readonly Done[]> => {
  const results: Done[] = [];
  const queue = stage.map((effect, index) => ({ effect, index }));
  let ending: Done | undefined;
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const inVain = next.effect.do === "create" ? ending : undefined;
      const result = inVain ?? (await apply(context, next.effect));
      if (result.did === "troubled" && result.trouble.reason === namespaceEnds) ending = result;
      results[next.index] = result;
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, stage.length) }, worker));
  return results;
};
