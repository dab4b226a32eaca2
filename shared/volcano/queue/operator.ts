/** Queue as the engine knows it: what to watch, how to read its memory, how to decide. */
import type { Operator } from "../../core/operator.ts";
import type { GangMode } from "../gang/scheduler.ts";
import { component } from "../resource.ts";
import { decideWith } from "./decide.ts";
import { founding } from "./default-queues.ts";
import { parseQueueMemory, type QueueMemory } from "./memory.ts";
import { recovery } from "./recovery.ts";
import { tells } from "./update.ts";
import { queueWatcher } from "./watches.ts";

/** `gang`: who lets groups of pods in. */
export const volcanoQueue = (gang: GangMode = "auto"): Operator<QueueMemory> => ({
  ...queueWatcher,
  component,
  founding,
  parse: parseQueueMemory,
  tells,
  recovery,
  decide: decideWith(gang),
});
