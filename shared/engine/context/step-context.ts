/**
 * The context of a step: the world that it acts in, its stored record, and its observation, which holds the object,
 * the record and the server time as the step first read them.
 */
import { idOf, type Key, type Message } from "../../core/key.ts";
import { type Ref, refText, type Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Plan, Returning } from "../../core/plan.ts";
import type { Epoch } from "../../core/time.ts";
import type { Defect } from "../checkpoint/classify.ts";
import type { ApplyContext } from "../cluster/apply.ts";
import type { SubmissionSlot } from "../load-limits.ts";
import type { CheckpointRecord, Enclosure, Version } from "../ports.ts";
import { recoveryOf } from "../settings.ts";
import type { World } from "./world.ts";

/** The state of a key before any decision. */
export type Observation = {
  /** The object that the memory is about; undefined if it is gone or another object has its name. */
  readonly object: Stored | undefined;
  /** True if another object has the name. Its own steps begin when the record of the old object is settled. */
  readonly successor: boolean;
  /** UID of that other object. */
  readonly replacementUid?: string;
  readonly uid: string;
  readonly record: CheckpointRecord | undefined;
  readonly version: Version | undefined;
  /** No record was read: the step assumes that there is none. The first save succeeds only if that is true. */
  readonly assumedNew: boolean;
  /** Set if object and record, or a new object, come from this process's cache: see reads/. */
  readonly cachedAt?: Epoch;
  /** The watch may answer the queries of decisions, and only a `staleSafe` plan is carried out. */
  readonly fromCache?: true;
  /** The object and the enclosed lists were not read, and only an `enclosureSafe` plan is carried out. */
  readonly enclosure?: Enclosure;
  readonly memory: unknown;
  readonly now: number;
  /**
   * The recovery window, in which a missing object may still appear: from the record, or because the object has a
   * status but no record.
   */
  readonly returning: Returning | undefined;
};

/** A record that cannot be used as it is, and the object of its name. */
export type BrokenRecord = {
  readonly defect: Defect;
  readonly version: Version | undefined;
  readonly object: Stored | undefined;
  readonly now: number;
};

export type FirstRead =
  | { readonly see: "observation"; readonly observation: Observation }
  | { readonly see: "nothing" }
  | { readonly see: "broken"; readonly brokenRecord: BrokenRecord };

/** The message is a timer of an earlier plan, by the record that was read: there is nothing to do. */
export type OutdatedTimer = { readonly see: "outdated timer"; readonly version: Version };

export const objectRef = (key: Key, operator: Operator<unknown>): Ref => ({
  resource: operator.resource,
  namespace: key.namespace,
  name: key.name,
});

/** Builds the observation of a usable record and of the object that has the key's name. */
export const observationOf = (
  record: CheckpointRecord,
  { version, object, memory, now }: Pick<Observation, "version" | "object" | "memory" | "now">,
): Observation => {
  const same = object?.metadata.uid === record.uid;
  return {
    object: same ? object : undefined,
    successor: object !== undefined && !same,
    ...(object === undefined || same ? {} : { replacementUid: object.metadata.uid }),
    uid: record.uid,
    record,
    version,
    assumedNew: false,
    memory,
    now,
    returning: record.returning,
  };
};

/** Returns the length of the recovery window of this object, ms. */
export const returnMsOf = (world: World, operator: Operator<unknown>, object: Stored): number =>
  operator.recovery?.returnMs?.(object) ?? recoveryOf(world).returnMs;

/** The record as the step has last stored it; a save replaces it. */
export type StoredRecord = { readonly record: CheckpointRecord | undefined; readonly version: Version | undefined };

/**
 * A plan as the engine carries it out. `closing`: "cleanup" if the plan completes a cleanup order, "updates" if only
 * undelivered updates keep the record.
 */
export type StepPlan = Plan<unknown> & { readonly closing?: "cleanup" | "updates" };

export type StepContext = {
  readonly world: World;
  readonly message: Message;
  readonly operator: Operator<unknown>;
  readonly observation: Observation;
  /** Monotonic time at which the step began. */
  readonly began: number;
  /** Monotonic time of `observation.now`, or earlier: the time of the first read, or that of the cached answer. */
  readonly looked: number;
  /** True when the step has read again because the first attempt took too long. */
  readonly slow?: boolean;
  /** The plan whose status was written before its effects, as the lock. */
  readonly shown?: Plan<unknown>;
  /** The step's submission slot; absent if the number of parallel submissions is not limited. */
  readonly turn?: SubmissionSlot | undefined;
  /** The objects that this step has created so far, as the server answered, by the text of their reference. */
  readonly created?: Map<string, Stored>;
};

/** Returns the dependencies of this step's appliers; `until` is the fence, monotonic. */
export const applyContextOf = (
  { world, operator, observation, message, created }: StepContext,
  until: number,
): ApplyContext => {
  const { trace } = message;
  const { cluster, clock, chance } = world;
  const { component } = operator;
  const about = { now: observation.now, component, trace: trace === undefined ? trace : idOf(trace) };
  const made: ApplyContext["made"] = (resource, object) => {
    const { name, namespace } = object.metadata;
    created?.set(refText({ resource, name, ...(namespace === undefined ? {} : { namespace }) }), object);
    world.cache?.made(message, resource, object);
  };
  return { cluster, clock, chance, until, ...about, made };
};
