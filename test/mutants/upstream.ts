/** Bugs of the Spark operator, by their numbers in the catalogue, put into a copy of the sources: the sweep must see them. */
import type { Mutant } from "./mutants.ts";

const decide = "shared/spark/application/decide.ts";

export const upstreamMutants: readonly Mutant[] = [
  {
    name: "status-believed",
    promise: "the record wins over the status (U1, U2, U6: kubeflow#2788)",
    file: decide,
    find: "view.memory ?? adopted(",
    replace: 'view.memory?.state.phase === "" ? view.memory : adopted(',
    scenarios: ["completion"],
    fault: "crash-.*|409",
  },
  {
    name: "pod-events-dropped",
    promise: "what happens to pods is heard (U7: kubeflow#2749)",
    file: "shared/spark/application/operator.ts",
    find: "return !same(gist(before), gist(after));",
    replace: "return false && !same(gist(before), gist(after));",
    scenarios: ["completion"],
    fault: "crash-.*",
  },
  {
    name: "executors-forgotten",
    promise: "whose executors are is known also when their driver has gone (U8)",
    file: "shared/spark/application/clearing.ts",
    find: "planOf(scene, knowing(memory, found), found,",
    replace: "planOf(scene, knowing(memory, { ...found, driver: undefined }), found,",
    scenarios: ["U8-slow-to-end"],
    fault: "crash-.*",
  },
  {
    name: "mended-in-vain",
    promise: "a mended spec is tried, also after a failure (U10: kubeflow#3174)",
    file: decide,
    find: "if (unchanged || nothingRuns) return taken;",
    replace: 'if (unchanged || nothingRuns || memory.state.phase === "FAILED") return taken;',
    scenarios: ["refusal"],
    fault: "crash-.*",
  },
  {
    name: "conflicts-are-errors",
    promise: "a conflict is nobody's error (U14: kubeflow#3184)",
    file: "shared/engine/return.ts",
    find: 'tries < 2 && since.lastedMs === 0 ? "debug" : "warn"',
    replace: 'tries < 2 && since.lastedMs === 0 ? "error" : "warn"',
    scenarios: ["U14-conflicts"],
    fault: "crash-.*",
  },
  {
    name: "upgrade-invalidates",
    promise: "a record by another normaliser is taken in as it is: upgrading restarts nobody",
    file: decide,
    find: "memory.normaliser !== normaliser || memory.spec === spec;",
    replace: "memory.spec === spec;",
    scenarios: ["upgrade"],
    fault: "crash-.*",
  },
];
