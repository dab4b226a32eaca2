/** The context of a step: the world that it acts in, its observation, and its stored record. */
import { idOf, type Message } from "../../core/key.ts";
import { refText, type Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import type { Plan } from "../../core/plan.ts";
import type { ApplyContext } from "../cluster/apply.ts";
import type { CheckpointRecord, Version } from "../ports.ts";
import type { SubmissionSlot } from "../submission-slots.ts";
import type { Observation } from "./observation.ts";
import type { World } from "./world.ts";

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
