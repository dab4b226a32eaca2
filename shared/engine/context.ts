/** What a step carries along: the world it acts in, what it saw at first, and what of it is stored so far. */
import type { Message } from "../core/key.ts";
import type { Operator } from "../core/operator.ts";
import type { Plan } from "../core/plan.ts";
import { idOf } from "../core/trace.ts";
import type { Hands } from "./apply.ts";
import type { Sight } from "./observe.ts";
import type { CheckpointRecord, Version } from "./ports.ts";
import type { Turn } from "./submission-slots.ts";
import type { World } from "./world.ts";

/** What the step has stored so far; a save replaces it. */
export type Held = { readonly record: CheckpointRecord | undefined; readonly version: Version | undefined };

export type Run = {
  readonly world: World;
  readonly message: Message;
  readonly operator: Operator<unknown>;
  readonly sight: Sight;
  /** Monotonic time at which the step began. */
  readonly began: number;
  /** Monotonic time of `sight.now`, or before: that of its first look, or of what it remembers. */
  readonly looked: number;
  /** It looked again, for the first time it took too long. */
  readonly slow?: boolean;
  /** The plan whose status was written before anything of it was done, and was the lock. */
  readonly shown?: Plan<unknown>;
  /** Its place among those that submit; absent where nothing bounds them. */
  readonly turn?: Turn | undefined;
};

/** What appliers of this step work with, until the given monotonic time. */
export const handsOf = ({ world, operator, sight, message }: Run, until: number): Hands => {
  const { trace } = message;
  const { cluster, clock, chance } = world;
  const { component } = operator;
  const about = { now: sight.now, component, trace: trace === undefined ? trace : idOf(trace) };
  return { cluster, clock, chance, until, ...about, made: (...what) => world.recall?.made(message, ...what) };
};
