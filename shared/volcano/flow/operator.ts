/** JobFlow as the engine knows it: what to watch, how to read its memory, how to decide. */
import type { Operator } from "../../core/operator.ts";
import { component } from "../schema/resource.ts";
import { decide, type Settings } from "./decide.ts";
import { type Memory, parseMemory } from "./memory.ts";
import { recovery } from "./recovery.ts";
import { tells } from "./update.ts";
import { flowWatcher } from "./watches.ts";

/** The operator of JobFlows under the given settings. */
export const volcanoJobFlow = (settings: Settings): Operator<Memory> => ({
  ...flowWatcher,
  component,
  parse: parseMemory,
  tells,
  recovery,
  decide: (key, view) => decide(settings, key, view),
});
