/**
 * Changes that viewers make on the page: a pause, a suspension, a deletion, the state of a queue, and the request of a
 * step. An action names the UID and the resourceVersion that the viewer has seen, and changes no other object and no
 * later version. Each leaves a log line, and each change an Event on its object.
 */
import { openCluster } from "../../adapters/kubernetes/cluster.ts";
import { isPaused } from "../../core/annotation.ts";
import { forgetOldest } from "../../core/cache.ts";
import { eventOf, events } from "../../core/event.ts";
import { ApiError, type Transport } from "../../core/http.ts";
import { fieldsOf } from "../../core/json.ts";
import { digest } from "../../core/key.ts";
import { keyKindOf, type Ref, type Resource, type Stored } from "../../core/object.ts";
import type { Report } from "../../engine/ports.ts";
import {
  deleteObject,
  isSuspended,
  nameOf,
  pauseObject,
  resumeObject,
  type Subject,
  suspendObject,
} from "../../inspection/actions/lifecycle.ts";
import { order } from "../../inspection/actions/order.ts";
import { Refused } from "../../inspection/io/refusal.ts";
import { kindNamed } from "../../inspection/kinds/all.ts";
import type { Target } from "../../inspection/target.ts";
import type { Action, ActionAnswer, ActionRequest, Row } from "../../page/wire.ts";
import { queues } from "../../volcano/schema/resource.ts";
import type { Viewer } from "./access.ts";

type Named = Pick<Row, "kind" | "namespace" | "name">;

/** `once`: the Idempotency-Key; the same one again is the same action. */
export type RequestedAction = ActionRequest & { readonly once: string };

type Refusal = 403 | 404 | 409 | 422 | 502;

export type Answer = { readonly status: 200 | Refusal; readonly body: ActionAnswer };

/** Puts a request of a step onto the queue; `once` is its deduplication id. */
export type Trigger = (named: Named, once: string) => Promise<void>;

export type Actions = {
  /** Undefined: this process has no queue. */
  readonly trigger?: Trigger | undefined;
  /** Acts on an application. */
  act(viewer: Viewer, named: Named, wish: RequestedAction): Promise<Answer>;
  /** Opens or closes a queue. */
  operate(viewer: Viewer, queue: string, wish: RequestedAction): Promise<Answer>;
};

const isHeld = ({ kind }: Target, object: Stored): boolean =>
  isSuspended(object) || kind.commands?.held.includes(kind.stateOf(object).state) === true;

/** The actions that the state of an object allows. */
export const actionsOn = (target: Target, object: Stored): readonly Action[] => {
  if (object.metadata.deletionTimestamp !== undefined) return [];
  const { kind } = target;
  const hasEnded = kind.stateOf(object).ended !== undefined;
  const mayHold = kind.suspends || kind.commands !== undefined;
  const [isStill, isAsleep] = [isPaused(object), isHeld(target, object)];
  return [
    "reconcile",
    ...(isStill || isAsleep ? (["resume"] as const) : []),
    ...(isStill || hasEnded ? [] : (["pause"] as const)),
    ...(isAsleep || hasEnded || !mayHold ? [] : (["suspend"] as const)),
    "delete",
  ];
};

type Parts = {
  readonly transport: Transport;
  readonly report: Report;
  /** Namespace of Commands for queues: one that the controller obeys; "": it obeys none. */
  readonly commandNamespace: string;
  readonly trigger?: Trigger | undefined;
  /** Epoch ms. */
  readonly now: () => number;
  /** Follows the API server's message about a missing right. */
  readonly advice: string;
};

const done = (text: string, object?: Stored): Answer => ({
  status: 200,
  body: { text, ...(object === undefined ? {} : { version: object.metadata.resourceVersion }) },
});

const refused = (status: Refusal, error: string): Answer => ({ status, body: { error } });

/** The answer to an action on what has changed since the viewer saw it. */
const changed = (name: string, state: string): Answer =>
  refused(
    409,
    `${name} has changed since you saw it${state === "" ? "" : `, and is ${state} now`}: nothing was done. Look at it, and repeat the action if you still want it`,
  );

/** An object and what is done to it. */
type Deed = {
  readonly name: string;
  readonly ref: Ref;
  readonly wish: RequestedAction;
  readonly stateOf: (object: Stored) => string;
  /** Says that the object is already as the action would leave it; undefined: it is not. */
  readonly already: (object: Stored) => string | undefined;
  readonly perform: (object: Stored) => Promise<{ readonly text: string; readonly object?: Stored }>;
};

const read = async ({ transport }: Parts, ref: Ref): Promise<Stored | undefined> =>
  (await openCluster(transport).get(ref)).value;

const isConflict = (cause: unknown): boolean => cause instanceof ApiError && cause.status === 409;

const deeds: Readonly<Record<Exclude<Action, "reconcile">, string>> = {
  pause: "paused",
  resume: "resumed",
  suspend: "suspended",
  delete: "deleted",
  open: "opened",
  close: "closed",
};

/** The Event about an action, on its object. */
const tell = async ({ transport, report, now }: Parts, viewer: Viewer, deed: Deed): Promise<void> => {
  const { ref, wish } = deed;
  const { resource, name, namespace } = ref;
  const { action, uid, once } = wish;
  if (action === "reconcile") return;
  const event = eventOf(
    {
      about: { name, uid, ...(namespace === undefined ? {} : { namespace }), resourceVersion: wish.version },
      ...{ subject: resource, occasion: once, type: "Normal", reason: "PageAction" },
      message: `${viewer.name} ${deeds[action]} it on the page`,
    },
    now(),
  );
  const place = { resource: events, namespace: event.metadata.namespace ?? "default", name: event.metadata.name };
  try {
    await openCluster(transport).create(place, event);
  } catch (cause) {
    // The log line is there; the Event may be there, too, from a request whose answer was lost.
    report("warn", "the Event about an action of the page could not be written", { error: String(cause) });
  }
};

/** Acts on the object that the viewer saw, or says why not. */
const performed = async (parts: Parts, viewer: Viewer, deed: Deed): Promise<Answer> => {
  const { name, ref, wish, stateOf, already, perform } = deed;
  const object = await read(parts, ref);
  const isGone = object === undefined || object.metadata.uid !== wish.uid;
  if (isGone && wish.action === "delete") return done(`${name} has been deleted already`);
  if (object === undefined) return refused(404, `there is no ${name}: it was deleted`);
  if (isGone) return refused(409, `${name} was deleted and created again since you saw it: nothing was done`);
  const text = already(object);
  if (text !== undefined) return done(text, object);
  if (object.metadata.resourceVersion !== wish.version) return changed(name, stateOf(object));
  try {
    const outcome = await perform(object);
    await tell(parts, viewer, deed);
    return done(outcome.text, outcome.object);
  } catch (cause) {
    if (!isConflict(cause)) throw cause;
    const present = await read(parts, ref);
    return changed(name, present === undefined ? "gone" : stateOf(present));
  }
};

const why = (cause: unknown, advice: string): Answer => {
  if (cause instanceof Refused) return refused(422, cause.message);
  if (cause instanceof ApiError && cause.status === 403) return refused(403, `${cause.message}${advice}`);
  if (!(cause instanceof ApiError)) throw cause;
  if (cause.status > 0) return refused(422, cause.message);
  return refused(502, "the API server did not answer: look whether it was done");
};

/** Performs an action and reports it, whatever its end. */
const audited = async (parts: Parts, viewer: Viewer, deed: Deed): Promise<Answer> => {
  const { wish, ref } = deed;
  const { action, uid } = wish;
  const about = {
    caller: viewer.name,
    action,
    kind: keyKindOf(ref.resource),
    namespace: ref.namespace,
    name: ref.name,
    uid,
  };
  try {
    const answer = await performed(parts, viewer, deed).catch((cause: unknown) => why(cause, parts.advice));
    const said = "text" in answer.body ? answer.body.text : answer.body.error;
    parts.report("info", "action of the page", { ...about, status: answer.status, answer: said });
    return answer;
  } catch (cause) {
    parts.report("warn", "action of the page", { ...about, error: String(cause) });
    throw cause;
  }
};

/** The end of the name of a Command: the same action gives the same one. */
const endOf = ({ once, uid }: RequestedAction): string => digest(once, uid).slice(0, 12);

const commanded = async (
  { transport, commandNamespace }: Parts,
  { about, resource, action, wish }: { about: Stored; resource: Resource; action: string; wish: RequestedAction },
): Promise<{ readonly text: string }> => {
  await order({ transport }, { about, resource, action, commandNamespace, once: endOf(wish) });
  const { namespace, name } = about.metadata;
  return { text: `sent ${action} to ${[namespace, name].filter(Boolean).join("/")}` };
};

const states = {
  pause: (_: Target, object: Stored) => isPaused(object),
  resume: (target: Target, object: Stored) => !isPaused(object) && !isHeld(target, object),
  suspend: (target: Target, object: Stored) => isHeld(target, object),
  delete: (_: Target, { metadata }: Stored) => metadata.deletionTimestamp !== undefined,
} as const;

type Change = keyof typeof states;

const isChange = (action: Action): action is Change => action in states;

const changes: Readonly<
  Record<Change, (parts: Parts, subject: Subject, wish: RequestedAction) => Promise<{ text: string; object?: Stored }>>
> = {
  pause: ({ transport }, subject) => pauseObject({ transport }, subject),
  resume: (parts, subject, wish) => {
    const { target, object } = subject;
    const { resource, commands } = target.kind;
    return commands === undefined || isPaused(object)
      ? resumeObject(parts, subject)
      : commanded(parts, { about: object, resource, action: commands.resume, wish });
  },
  suspend: (parts, subject, wish) => {
    const { target, object } = subject;
    const { resource, commands, stateOf } = target.kind;
    const { ended, state } = stateOf(object);
    if (ended !== undefined) throw new Refused(`${nameOf(target)} has ended (${state}): there is nothing to suspend`);
    return commands === undefined
      ? suspendObject(parts, subject)
      : commanded(parts, { about: object, resource, action: commands.suspend, wish });
  },
  delete: async (parts, { target, object: { metadata } }) => {
    await deleteObject(parts, target, { uid: metadata.uid, resourceVersion: metadata.resourceVersion });
    return { text: `${nameOf(target)} is being deleted` };
  },
};

const deedOn = (parts: Parts, target: Target, wish: RequestedAction & { readonly action: Change }): Deed => {
  const { kind, key } = target;
  const { action } = wish;
  return {
    name: `${kind.resource.kind} ${nameOf(target)}`,
    ref: { resource: kind.resource, namespace: key.namespace, name: key.name },
    wish,
    stateOf: (object) => kind.stateOf(object).state,
    already: (object) =>
      states[action](target, object)
        ? `${nameOf(target)} is ${action === "delete" ? "being deleted" : deeds[action]} already`
        : undefined,
    perform: (object) => changes[action](parts, { target, object, isExact: true }, wish),
  };
};

const queueStates = { open: ["Open"], close: ["Closed", "Closing"] } as const;

const stateOfQueue = (queue: Stored): string => {
  const { state } = fieldsOf(queue.status);
  return typeof state === "string" && state !== "" ? state : "Open";
};

const deedOnQueue = (
  parts: Parts,
  name: string,
  wish: RequestedAction & { readonly action: "open" | "close" },
): Deed => ({
  name: `queue ${name}`,
  ref: { resource: queues, name },
  wish,
  stateOf: stateOfQueue,
  already: (queue) =>
    queueStates[wish.action].some((state) => state === stateOfQueue(queue))
      ? `queue ${name} is ${stateOfQueue(queue)} already`
      : undefined,
  perform: async (about) => {
    if (parts.commandNamespace === "")
      throw new Refused("Commands for queues are obeyed from no namespace: see the setting queueCommandNamespaces");
    return await commanded(parts, {
      about,
      resource: queues,
      action: wish.action === "open" ? "OpenQueue" : "CloseQueue",
      wish,
    });
  },
});

/** An answer is remembered for this time, ms, for a request that is repeated because its answer was lost. */
const rememberedMs = 300_000;
const mostRemembered = 1_000;

type Remembered = { readonly of: string; readonly at: number; readonly answer: Promise<Answer> };

/** Answers a repeated request with the answer to the first one; a failed one may be tried again. */
const openOnce = (now: () => number) => {
  const answers = new Map<string, Remembered>();
  return async (id: string, of: string, act: () => Promise<Answer>): Promise<Answer> => {
    const known = answers.get(id);
    if (known !== undefined && now() - known.at < rememberedMs)
      return known.of === of ? known.answer : refused(422, "this Idempotency-Key belongs to another action");
    const answer = act();
    answers.delete(id);
    answers.set(id, { of, at: now(), answer });
    forgetOldest(answers, mostRemembered);
    const isOver = await answer.then(
      ({ status }) => status < 500,
      () => false,
    );
    if (!isOver) answers.delete(id);
    return answer;
  };
};

/** Opens the actions of a process, which acts with its own rights. */
export const openActions = (parts: Parts): Actions => {
  const once = openOnce(parts.now);
  const idOf = ({ name, id }: Viewer, wish: RequestedAction): string => JSON.stringify([name, id, wish.once]);
  const ofApplication = async (viewer: Viewer, named: Named, wish: RequestedAction): Promise<Answer> => {
    const kind = kindNamed(named.kind);
    if (kind === undefined || keyKindOf(kind.resource) !== named.kind)
      return refused(404, `there is no kind ${named.kind}`);
    const { action } = wish;
    if (action === "reconcile") {
      if (parts.trigger === undefined) return refused(422, "this process has no queue for steps");
      await parts.trigger(named, wish.once);
      parts.report("info", "action of the page", { caller: viewer.name, action, ...named, status: 200 });
      return done("a step was requested");
    }
    if (!isChange(action)) return refused(422, `${action} is an action on queues`);
    const target: Target = { kind, key: { cluster: "default", ...named } };
    return await audited(parts, viewer, deedOn(parts, target, { ...wish, action }));
  };
  return {
    trigger: parts.trigger,
    act: (viewer, named, wish) =>
      once(idOf(viewer, wish), JSON.stringify([named, wish]), () => ofApplication(viewer, named, wish)),
    operate: (viewer, queue, wish) => {
      const { action } = wish;
      if (action !== "open" && action !== "close")
        return Promise.resolve(refused(422, `${action} is not an action on queues`));
      return once(idOf(viewer, wish), JSON.stringify([queue, wish]), () =>
        audited(parts, viewer, deedOnQueue(parts, queue, { ...wish, action })),
      );
    },
  };
};
