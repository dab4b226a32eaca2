/** Queue as the engine knows it: what to watch, how to read its memory, how to decide. */
import type { Operator } from "../../core/operator.ts";
import { component } from "../schema/resource.ts";
import { vcctlNamespace } from "./command-namespaces.ts";
import { decideWith, type QueueOptions } from "./decide.ts";
import { founding } from "./default-queues.ts";
import { recovery } from "./recovery.ts";
import { parseQueueMemory, type QueueMemory } from "./state/memory.ts";
import { tells } from "./update.ts";
import { queueWatcher } from "./watches.ts";

export const volcanoQueue = ({
  gang = "auto",
  queueCommandNamespaces = [vcctlNamespace],
}: QueueOptions = {}): Operator<QueueMemory> => ({
  ...queueWatcher,
  component,
  founding,
  parse: parseQueueMemory,
  tells,
  recovery,
  decide: decideWith({ gang, queueCommandNamespaces }),
});
