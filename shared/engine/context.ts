/** What a step carries along: the world it acts in, what it saw at first, and what of it is stored so far. */
import type { Message } from "../core/key.ts";
import type { Operator } from "../core/operator.ts";
import type { Plan } from "../core/plan.ts";
import { idOf } from "../core/trace.ts";
import type { ApplyContext } from "./apply.ts";
import type { Observation } from "./observation.ts";
import type { CheckpointRecord, Version } from "./ports.ts";
import type { SubmissionSlot } from "./submission-slots.ts";
import type { World } from "./world.ts";

/** What the step has stored so far; a save replaces it. */
export type StoredRecord = { readonly record: CheckpointRecord | undefined; readonly version: Version | undefined };

/** A plan as the engine carries it out; `closing`: with it an order to end everything is carried out, or only updates keep the record. */
export type StepPlan = Plan<unknown> & { readonly closing?: "cleanup" | "updates" };

export type StepContext = {
  readonly world: World;
  readonly message: Message;
  readonly operator: Operator<unknown>;
  readonly observation: Observation;
  /** Monotonic time at which the step began. */
  readonly began: number;
  /** Monotonic time of `observation.now`, or before: that of its first look, or of what it remembers. */
  readonly looked: number;
  /** It looked again, for the first time it took too long. */
  readonly slow?: boolean;
  /** The plan whose status was written before anything of it was done, and was the lock. */
  readonly shown?: Plan<unknown>;
  /** Its place among those that submit; absent where nothing bounds them. */
  readonly turn?: SubmissionSlot | undefined;
};

/** What appliers of this step work with, until the given monotonic time. */
export const applyContextOf = ({ world, operator, observation, message }: StepContext, until: number): ApplyContext => {
  const { trace } = message;
  const { cluster, clock, chance } = world;
  const { component } = operator;
  const about = { now: observation.now, component, trace: trace === undefined ? trace : idOf(trace) };
  return { cluster, clock, chance, until, ...about, made: (...what) => world.cache?.made(message, ...what) };
};
