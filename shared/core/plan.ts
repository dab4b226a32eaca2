/**
 * The types of decisions: the reads that a decision yields and their answers, a kind's part of a recovery, the view
 * that a decision starts from, and the plan that it returns. Pure.
 */

import type { LogKeeping } from "./kept-log.ts";
import type { Key } from "./key.ts";
import type { Obj, Ref, Resource, Stored } from "./object.ts";
import { type WaitingOn, waitingText } from "./waiting-on.ts";

/** Returns the parts of an object that a decision reads; undefined: it does not need the object. */
export type Projection = (object: Stored) => Stored | undefined;

/** A read of a decision. The engine chooses where the answer comes from, and reads again where a plan needs that: see `Operator.watched`. */
export type Query =
  | { readonly do: "get"; readonly ref: Ref }
  | {
      readonly do: "list";
      readonly resource: Resource;
      readonly namespace: string;
      readonly labels: Readonly<Record<string, string>>;
      /** Field selector sent to the server, as `metadata.name=x`. */
      readonly field?: string;
      /** Clusters may do without the kind: if it is not served, the list is empty. */
      readonly spared?: true;
      /** If listing is forbidden, the list is empty. */
      readonly optional?: true;
      /**
       * Begins a list anew; the result is applied to each page before the next is read. For lists of all namespaces,
       * which are larger than any memory if a tenant wants it.
       */
      readonly projecting?: () => Projection;
      /** The list ends with the page that brings its text to so many characters: the rest is not read. */
      readonly mostText?: number;
    }
  | {
      /** Reads an object that the service account may not be allowed to read; 403 is an answer, not a trouble. */
      readonly do: "getIfAllowed";
      readonly ref: Ref;
    }
  | {
      /** Reads JSON from a pod through the API server's pod proxy. A failure is an answer, not a trouble. */
      readonly do: "proxyGet";
      readonly pod: Ref;
      readonly port: number;
      /** Segments of the path; each is encoded for a URL. */
      readonly path: readonly string[];
      /** The query string of the URL, without its question mark. */
      readonly query?: string;
      /** A header to send; headers that mean something to the API server are left out. */
      readonly header?: { readonly name: string; readonly value: string };
      /** Longest answer, bytes, if it may exceed the default of 1 MiB. */
      readonly mostBytes?: number;
    };

/** The reason why a probe has no answer. `notFound` is the pod's own 404, `notJson` an answer of another type. */
export type ProbeFailure = "forbidden" | "unreachable" | "timeout" | "notFound" | "notJson" | "tooLong";

export type Listing = Extract<Query, { do: "list" }>;

/** A read of objects: a recovery may ask it, and a watch may answer it. */
export type Looking = Extract<Query, { do: "get" | "list" }>;

/** A read that may fail without harm: its failure is an answer. */
export type Probe = Exclude<Query, Looking>;

/** The result of a probe. An answer of a pod is untrusted: parse it before use. */
export type ProbeResult =
  | { readonly heard: true; readonly value: unknown }
  | { readonly heard: false; readonly why: ProbeFailure; readonly message: string };

/** A run that is over; kept until its retention has passed. Instants in epoch ms. */
export type PastRun = {
  readonly attempt: number;
  readonly submissionId?: string | undefined;
  /** UID of its driver's pod, if it was ever seen. */
  readonly driver?: string | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt: number;
  readonly outcome: "completed" | "failed" | "refused" | "replaced" | "suspended" | "voided" | "ended";
  readonly error?: string | undefined;
  /** The number of lost executors; absent if none. */
  readonly losses?: number | undefined;
  /** The pods of the run as its kind keeps them: for people, no decision reads it. */
  readonly account?: unknown;
};

/** The recovery window: missing objects may still appear in it, and none is reported lost before its end. Epoch ms. */
export type Returning = {
  readonly since: number;
  readonly until: number;
  /** Objects that have not appeared by the end are ended. */
  readonly ends?: boolean | undefined;
};

/** Queries that find the objects of a key, and the UIDs of their owners beside the application's own. */
export type OwnedObjects = {
  readonly queries: readonly Looking[];
  readonly owners: readonly string[];
};

/** The input for rebuilding a memory. */
export type Remains = {
  readonly key: Key;
  readonly object: Stored;
  /** The results of the queries of `ownedObjects`, in their order. */
  readonly found: readonly (readonly Stored[])[];
  readonly now: number;
  /** The memory as it was stored, valid or not; undefined if there is none. */
  readonly stored: unknown;
};

/** `kept` and `problems` name fields: those that were taken over, and the problems of those that were not. */
export type Rebuilt<Memory> = {
  readonly memory: Memory;
  readonly kept: readonly string[];
  readonly problems: readonly string[];
};

/** Methods, so that the engine may hold the recoveries of every kind side by side. */
export type Recovery<Memory> = {
  ownedObjects(key: Key, uid: string, memory: Memory | undefined): OwnedObjects;
  /** False for objects that have ended and outlive a cleanup. */
  isLive(object: Stored): boolean;
  /** Keeps the fields that parse; derives the rest from the object's status and the existing objects. */
  rebuild(remains: Remains): Rebuilt<Memory>;
  /**
   * Returns the memory for another cluster, where its UIDs are invalid: ended runs stay ended, a run under way becomes
   * the next attempt.
   */
  voided(memory: Memory): Memory;
  /** Returns the memory after a cleanup: nothing begins again. Absent: the kind has no such state. */
  ended?(memory: Memory, now: number, message: string): Memory;
  /** For a kind without `ended`: the object's whole status after a cleanup. Epoch ms. */
  emptied?(object: Stored, memory: Memory, now: number, message: string): Readonly<Record<string, unknown>>;
  /** Returns the run that ended between `before` and `after`. */
  past?(before: Memory, after: Memory, now: number): PastRun | undefined;
  /** Returns a smaller memory, for a record that would be too large. */
  trimmed?(memory: Memory): Memory;
  /** Returns how the log of a pod is kept before a cleanup deletes it; undefined: it is not. */
  logOf?(object: Stored): LogKeeping | undefined;
  /** Returns the length of the recovery window that the object asks for, ms. */
  returnMs?(object: Stored): number | undefined;
};

/** One problem that a parser reports. */
export type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

/** Returns the stored value without the fields that have issues; {} if it is not an object. */
export const withoutBad = (stored: unknown, issues: readonly Issue[]): Readonly<Record<string, unknown>> => {
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) return {};
  const bad = new Set(issues.map(({ path }) => String(path[0])));
  return Object.fromEntries(Object.entries(stored).filter(([key]) => !bad.has(key)));
};

/** Returns one line for each issue: `driver.attempt: expected number`. `whole` stands for the value itself. */
export const problemsIn = (issues: readonly Issue[], whole: string): readonly string[] =>
  issues.map(({ path, message }) => `${path.map(String).join(".") || whole}: ${message}`);

/**
 * One write. Each is safe to repeat: a create has a deterministic name, a delete names the UID (and the resourceVersion
 * if it depends on the object's state), a patch names both.
 */
export type Effect =
  | {
      readonly do: "create";
      /** The object to create; if there is a `body`, only its kind, name and namespace. */
      readonly object: Obj;
      /** Builds the whole object when it is sent, so that a large plan does not hold all bodies. */
      readonly body?: () => Obj;
      readonly resource: Resource;
      readonly owner: string;
      /** If the creation is forbidden or refused, the step reports that and goes on. */
      readonly optional?: boolean;
      /** A used-up quota, or the refusal of a policy, is an answer to the decision, and no trouble: it goes on without. */
      readonly limited?: true;
      /** Any creator will do: an existing object of any owner counts as created. */
      readonly shared?: true;
      /**
       * Adds random values to `data` at the creation; no decision or record contains them, and they are not generated
       * again.
       */
      readonly fresh?: "ssh-key";
    }
  | {
      readonly do: "delete";
      readonly ref: Ref;
      readonly uid: string;
      readonly resourceVersion?: string;
      readonly graceSeconds?: number;
      /**
       * Fields to write into the status before the deletion, for clients that read the last status; needs
       * `resourceVersion`.
       */
      readonly lastWord?: Readonly<Record<string, unknown>>;
    }
  | {
      /**
       * Asks the Eviction API to delete a pod of this UID. If a disruption budget or a missing right forbids it, the step
       * reports that and goes on.
       */
      readonly do: "evict";
      readonly ref: Ref;
      readonly uid: string;
    }
  | {
      /** Keeps the end of a pod's log. If it cannot be read, the step reports that and goes on. */
      readonly do: "keepLog";
      readonly ref: Ref;
      readonly uid: string;
      readonly log: LogKeeping;
    }
  | {
      /** Merge patch (RFC 7386) of the object or its status, only if it still has this UID and resourceVersion. */
      readonly do: "patch";
      readonly ref: Ref;
      readonly uid: string;
      readonly resourceVersion: string;
      readonly patch: Readonly<Record<string, unknown>>;
      readonly subresource?: "status";
      /** If the patch is forbidden, the step goes on without it: see `View.passed`. */
      readonly optional?: boolean;
    }
  | {
      readonly do: "record";
      readonly about: Stored;
      readonly resource: Resource;
      /** Makes the Event's name deterministic, with the object's UID and the reason: for example the attempt. */
      readonly occasion: string;
      readonly type: "Normal" | "Warning";
      readonly reason: string;
      readonly message: string;
    };

/** The kind of object that an effect is about. */
export const kindOf = (effect: Effect): string => ("ref" in effect ? effect.ref.resource : effect.resource).kind;

/** Returns the whole object to create, without its random values. */
export const wholeOf = ({ object, body }: Extract<Effect, { do: "create" }>): Obj => body?.() ?? object;

/** The reasons of refusals for want of quota, and by a policy or a webhook: the cluster may accept the object later. */
export const [quotaExceeded, policyRefused] = ["QuotaExceeded", "PolicyRefused"] as const;

/** A write that the server refused because of its content: evidence for the next decision. */
export type Refusal = {
  readonly effect: Effect;
  readonly status: number;
  readonly reason: string;
  readonly message: string;
};

/** A failure that is not the application's fault; it is reported, and the step tries again. */
export type Trouble = {
  readonly reason: string;
  readonly message: string;
  readonly retryAfterMs?: number;
  /** The operation that failed. */
  readonly doing?: Doing;
};

/** The operation and the kind of its object: an effect, or the status write. */
export type Doing = { readonly do: Effect["do"] | "status"; readonly kind: string };

/** The reason why a key waits, and when its next step comes even without an event. */
export type Wait = {
  readonly waitsFor?: WaitingOn;
  /** Epoch ms of the API server's clock. Derived from the memory; kept beside it in the record. */
  readonly wakeAt?: number;
  /** The next step comes after this many ms. Not saved, because a resync would find the key, too. */
  readonly pollMs?: number;
  /** Objects are still missing after a recovery: the recovery window stays open. */
  readonly returning?: true;
};

/** The action after a plan. */
export type Next =
  /** Nothing is left to do before `wakeAt` unless the object changes: a resync skips the key until that is near. */
  | ({ readonly do: "rest" } & Pick<Wait, "waitsFor" | "wakeAt">)
  /** An event, an instant or a poll brings the next step, and a resync does if all of them are lost. */
  | ({ readonly do: "wait" } & Wait)
  /** More is to be done after this plan: the next step comes at once. */
  | ({ readonly do: "again" } & Wait)
  /** The same step decides again, from its earlier reads and `view.done`; the status is not written yet. */
  | ({ readonly do: "continue" } & Wait)
  /** Nothing is left to remember: the record is deleted. */
  | { readonly do: "forget" };

/** The next step after a plan of a schedule, beside the instant of its next time. */
export type Follows = {
  /** `rest`: nothing is left to look at; `again`: the created object is looked at; absent: the key waits. */
  readonly follows?: "rest" | "again";
  readonly waitsFor: WaitingOn;
};

/** Returns the action after a plan whose next time is `wakeAt`, epoch ms; infinity: there is none. */
export const nextUntil = (wakeAt: number, { follows, waitsFor }: Follows): Next => {
  const wait = { waitsFor, ...(Number.isFinite(wakeAt) ? { wakeAt } : {}) };
  if (follows === "again") return { do: "again", ...wait };
  return follows === "rest" && !Number.isFinite(wakeAt) ? { do: "rest", waitsFor } : { do: "wait", ...wait };
};

/** The soonest of these instants, epoch ms, as a plan states it; nothing where none is known. */
export const soonest = (...times: readonly (number | undefined)[]): Pick<Wait, "wakeAt"> => {
  const known = times.flatMap((at) => at ?? []);
  return known.length === 0 ? {} : { wakeAt: Math.min(...known) };
};

/** Returns the wait of a plan. */
export const waitOf = ({ next }: Pick<Plan<unknown>, "next">): Wait => {
  if (next.do === "forget") return {};
  const { do: _, ...wait } = next;
  return wait;
};

/** Returns what a plan waits for, in words; undefined if it waits for nothing. */
export const waitsForText = (plan: Pick<Plan<unknown>, "next">): string | undefined => {
  const { waitsFor } = waitOf(plan);
  return waitsFor === undefined ? undefined : waitingText(waitsFor);
};

/** Conditions under which a plan may be carried out, beside the fences of its effects. */
export type Safety = {
  /** The plan is always saved, even if nothing changes, so that its effects follow a save of this very step. */
  readonly fenced?: true;
  /**
   * The plan creates nothing later than this after the step's first read, ms, so that a creation that did not happen is
   * known as such sooner. A step that is too slow for it reads again before the save, with `view.slow` set.
   */
  readonly createWithinMs?: number;
  /**
   * The plan concludes what no later step takes back and none of its effects shows, for example that a run is given up
   * or that nothing is left of it: it is carried out only on live reads. See `Operator.watched`.
   */
  readonly live?: true;
  /**
   * The status holds everything to remember: while there is no record, none is created for this plan. If the plan has
   * effects, the status is written before them, as the lock.
   */
  readonly statusIsRecord?: true;
};

/** The whole status that a plan desires. */
export type PlannedStatus = Readonly<Record<string, unknown>>;

/** The answer of a decision: the memory to save, effects in stages, the status, and what comes next. */
export type Plan<Memory> = {
  /** The state that cannot be observed again. Saved before any effect if it differs from the record, or if `fenced`. */
  readonly memory: Memory;
  /** Effects within a stage run in parallel; the next stage begins when all of them are done. */
  readonly stages: readonly (readonly Effect[])[];
  /** The whole desired status; written if it differs from what the last write was answered. */
  readonly status?: PlannedStatus;
  readonly next: Next;
  readonly safety?: Safety;
};

/** Marks a plan that concludes what no later step takes back: see `Safety.live`. */
export const onLiveReads = <Memory>(plan: Plan<Memory>): Plan<Memory> => ({
  ...plan,
  safety: { ...plan.safety, live: true },
});

/** The input of a decision, beside its reads. A decision uses no clock, no randomness and no environment. */
export type View<Memory> = {
  /** The application; undefined when it is gone, and only its remaining objects are to be ended. */
  readonly object: Stored | undefined;
  /** UID of the application, also when it is gone. */
  readonly uid: string;
  readonly memory: Memory | undefined;
  /** The API server's clock: the `Date` of its first answer in this step, epoch ms, whole seconds. */
  readonly now: number;
  readonly refused: readonly Refusal[];
  /** Effects that this step has done so far, including skipped ones: see `Next`, "continue". */
  readonly done?: readonly Effect[];
  /** Those of `done` that were skipped because they are optional. */
  readonly passed?: readonly Effect[];
  /** The platform is slow: an effect that must follow a read quickly would come too late. */
  readonly slow?: boolean;
  /** The recovery window of a rebuilt or recovered record: missing objects may still appear in it. */
  readonly returning?: Returning | undefined;
};

const isSameEvent = (one: Effect, event: Extract<Effect, { do: "record" }>): boolean =>
  one.do === "record" && one.reason === event.reason && one.occasion === event.occasion;

/** Returns those of these Events that this step has not written yet: see `Next`, "continue". */
export const notYetRecorded = (
  { done = [] }: Pick<View<unknown>, "done">,
  effects: readonly Effect[],
): readonly Effect[] =>
  effects.filter((event) => event.do === "record" && !done.some((one) => isSameEvent(one, event)));
