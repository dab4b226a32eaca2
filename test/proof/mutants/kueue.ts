/** Mutants of what Kueue is promised: each is seen by the sweep's scenario, or by the tests named. */
import type { Mutant } from "./mutants.ts";

const host = "test/unit/host/tools/kueue.test.ts";

export const kueueMutants: readonly Mutant[] = [
  {
    name: "kueue-ends-at-a-refusal",
    promise: "with Kueue's queue label no status shows SUBMISSION_FAILED while a retry is left",
    file: "shared/spark/application/state/status.ts",
    find: "state.retryAt !== undefined && localQueueOf(object) !== undefined",
    replace: "state.retryAt === undefined && localQueueOf(object) !== undefined",
    scenarios: ["kueued"],
    fault: "crash-after",
  },
  {
    name: "managed-by-unheeded",
    promise: "an object whose spec.managedBy names another controller is left alone",
    file: "shared/engine/reconcile/step.ts",
    find: "if (manager !== undefined) return await leaveTo(",
    replace: 'if (manager === "") return await leaveTo(',
    tests: [host],
  },
];
