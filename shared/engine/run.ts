/** What a step carries along: the world it acts in, what it saw at first, and what of it is stored so far. */
import type { Message } from "../core/key.ts";
import type { Operator } from "../core/operator.ts";
import { idOf } from "../core/trace.ts";
import type { Sight } from "./observe.ts";
import type { CheckpointRecord, Version } from "./ports.ts";
import type { Turn } from "./turns.ts";
import type { World } from "./world.ts";

/** What the step has stored so far; a save replaces it. */
export type Held = { readonly record: CheckpointRecord | undefined; readonly version: Version | undefined };

/** Id of the trace that the step belongs to. */
export const traced = ({ message: { trace } }: Pick<Run, "message">): string | undefined =>
  trace === undefined ? undefined : idOf(trace);

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
  /** Its place among those that submit; absent where nothing bounds them. */
  readonly turn?: Turn | undefined;
};
