/** The vocabulary of decisions: what they are made from, and the plans that they come to. */

import type { Obj, Ref, Resource, Stored } from "./object.ts";
import type { Returning } from "./recovery.ts";
import type { WaitingOn } from "./waiting-on.ts";

/**
 * One write. Each carries what makes it safe to do twice: a create its deterministic name, a delete the UID
 * (by judgement also the resourceVersion), a patch both.
 */
export type Effect =
  | {
      readonly do: "create";
      /** What is created; where there is a `body`, no more than its kind, its name and its namespace. */
      readonly object: Obj;
      /** Makes the whole of it when it is sent: a plan of many holds none of their bodies. */
      readonly body?: () => Obj;
      readonly resource: Resource;
      readonly owner: string;
      /** Worth a try and no more: who may not make it, or is refused, tells so and goes on. */
      readonly optional?: boolean;
      /** Whoever has made it: what is wanted is that it is there. */
      readonly shared?: true;
      /** What of its `data` is made by chance when it is created, and so never decided, remembered or made again. */
      readonly fresh?: "ssh-key";
    }
  | {
      readonly do: "delete";
      readonly ref: Ref;
      readonly uid: string;
      readonly resourceVersion?: string;
      readonly graceSeconds?: number;
      /** Fields of its status to be written before it goes, for those who go by its last word; needs `resourceVersion`. */
      readonly lastWord?: Readonly<Record<string, unknown>>;
    }
  | {
      /** Merge patch (RFC 7386) of the object itself, by judgement: of this UID, as it was when it was looked at. */
      readonly do: "patch";
      readonly ref: Ref;
      readonly uid: string;
      readonly resourceVersion: string;
      readonly patch: Readonly<Record<string, unknown>>;
      /** Worth a try and no more: who may not, goes on without it: see `View.passed`. */
      readonly optional?: boolean;
    }
  | {
      readonly do: "record";
      readonly about: Stored;
      readonly resource: Resource;
      /** Makes the event's name deterministic together with the object's UID and the reason: the attempt. */
      readonly occasion: string;
      readonly type: "Normal" | "Warning";
      readonly reason: string;
      readonly message: string;
    };

/** The kind of object that an effect is about. */
export const kindOf = (effect: Effect): string => ("ref" in effect ? effect.ref.resource : effect.resource).kind;

/** The whole of what is created, but for what is made by chance. */
export const wholeOf = ({ object, body }: Extract<Effect, { do: "create" }>): Obj => body?.() ?? object;

/** A write that the server refused for good: it has looked at the content and said no. Evidence for the next decision. */
export type Refusal = {
  readonly effect: Effect;
  readonly status: number;
  readonly reason: string;
  readonly message: string;
};

/** What is in the way but is not the application's fault; it is told, and the step tries again. */
export type Trouble = {
  readonly reason: string;
  readonly message: string;
  readonly retryAfterMs?: number;
  /** What could not be done. */
  readonly doing?: Doing;
};

/** What is done to the world, and to which kind of object: an effect, or the write of the status. */
export type Doing = { readonly do: Effect["do"] | "status"; readonly kind: string };

/** What a key waits for, and when it is looked at again even if no event comes. */
export type Wait = {
  readonly waitsFor?: WaitingOn;
  /** Epoch ms of the API server's clock. Derived from the memory; kept beside it in the record. */
  readonly wakeAt?: number;
  /** Look again after so many ms. Not remembered: a resync would find it too. */
  readonly pollMs?: number;
  /** What a recovery misses may still come back: the window for it stays open. */
  readonly returning?: true;
};

/** What comes after a plan. */
export type Next =
  /** Nothing, unless the object changes: a resync passes by. */
  | { readonly do: "rest"; readonly waitsFor?: WaitingOn }
  /** An event, an instant or a poll brings the next step, and a resync does if all of them are lost. */
  | ({ readonly do: "wait" } & Wait)
  /** There is more to do as soon as this is done: another step comes at once. */
  | ({ readonly do: "again" } & Wait)
  /** There is more to decide within this very step, from what was read already and `view.done`; nothing is told yet. */
  | ({ readonly do: "continue" } & Wait)
  /** Nothing is left to remember: the record is deleted. */
  | { readonly do: "forget" };

/** The wait that a plan leaves behind. */
export const waitOf = ({ next }: Pick<Plan<unknown>, "next">): Wait => {
  switch (next.do) {
    case "forget":
      return {};
    case "rest":
      return next.waitsFor === undefined ? {} : { waitsFor: next.waitsFor };
    default: {
      const { do: _, ...wait } = next;
      return wait;
    }
  }
};

/** What makes it safe to carry a plan out, beside the fences of its effects. */
export type Safety = {
  /** A fenced plan is always saved anew, so that its effects can be bound to a save of this very invocation. */
  readonly fenced?: true;
  /**
   * Nothing is created by it later than this after the step has begun to look, ms, so that what died on the way is known
   * for dead the sooner. A step that has been slow to come so far looks again before it saves, and says so in `view.slow`.
   */
  readonly createWithinMs?: number;
  /** Right also when what it was decided on is a little behind: it ends nothing but by right or what was read, and makes nothing twice. */
  readonly staleSafe?: true;
  /**
   * Its status tells all that is to be remembered: as long as there is no record none is made for it. When it acts, its
   * status is written first, and is the lock.
   */
  readonly statusIsRecord?: true;
};

/** What a step is to remember, do and tell, and what comes after it. */
export type Plan<Memory> = {
  /** What cannot be observed again. Saved before any effect when it differs from what is stored, or when `fenced`. */
  readonly memory: Memory;
  /** Effects in stages: within a stage in parallel, the next stage only when the one before is done. */
  readonly stages: readonly (readonly Effect[])[];
  /** The object's whole status as it should be; written when it differs from what our last write was answered. */
  readonly status?: Readonly<Record<string, unknown>>;
  readonly next: Next;
  readonly safety?: Safety;
};

/** What a decision is made from beside its reads: nothing else exists for it, no clock, no chance, no environment. */
export type View<Memory> = {
  /** The application, or undefined when it is gone: then only what it left behind is to be ended. */
  readonly object: Stored | undefined;
  /** UID of the application that this is about, also when it is gone. */
  readonly uid: string;
  readonly memory: Memory | undefined;
  /** The API server's clock: the `Date` of its first answer in this step, epoch ms, whole seconds. */
  readonly now: number;
  readonly refused: readonly Refusal[];
  /** What this very step has done so far, or passed over: see `Next`, "continue". */
  readonly done?: readonly Effect[];
  /** What of that was passed over: it was worth a try and no more. */
  readonly passed?: readonly Effect[];
  /** The platform takes its time: what is to be done soon after a look would not be. */
  readonly slow?: boolean;
  /** The record was made anew, or is being recovered: what is missing may come back until then. */
  readonly returning?: Returning | undefined;
};

const isSameEvent = (one: Effect, event: Extract<Effect, { do: "record" }>): boolean =>
  one.do === "record" && one.reason === event.reason && one.occasion === event.occasion;

/** The events among these that this very step has not told yet: see `Next`, "continue". */
export const untold = ({ done = [] }: Pick<View<unknown>, "done">, effects: readonly Effect[]): readonly Effect[] =>
  effects.filter((event) => event.do === "record" && !done.some((one) => isSameEvent(one, event)));
