/** The SparkConnect operator for the engine: its watches, the parser of its memory, its decision. */
import type { Operator } from "../../core/operator.ts";
import { decide, type Settings } from "./decide.ts";
import { type Memory, parseMemory } from "./memory.ts";
import { recovery } from "./recovery.ts";
import { tells } from "./update.ts";
import { connectWatcher } from "./watches.ts";

/** The operator of SparkConnects under the given settings. */
export const sparkConnect = (settings: Settings): Operator<Memory> => ({
  ...connectWatcher,
  parse: parseMemory,
  tells,
  recovery,
  decide: (key, view) => decide(settings, key, view),
});
