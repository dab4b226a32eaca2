/** The SparkApplication operator for the engine: its watches, the parser of its memory, its decision. */
import type { Operator } from "../../core/operator.ts";
import { decide } from "./decide.ts";
import { heldUp } from "./held-up.ts";
import { measuresOf, measuresOfSave } from "./metrics.ts";
import { recovery } from "./recovery.ts";
import type { Settings } from "./run/context.ts";
import { type Memory, parseMemory } from "./state/memory.ts";
import { tells } from "./update.ts";
import { applicationWatcher } from "./watches.ts";

/** The operator of SparkApplications under the given settings. */
export const sparkApplication = (settings: Settings): Operator<Memory> => ({
  ...applicationWatcher,
  parse: parseMemory,
  decide: (key, view) => decide(settings, key, view),
  tells,
  recovery,
  heldUp,
  measuresOf,
  measuresOfSave,
});
