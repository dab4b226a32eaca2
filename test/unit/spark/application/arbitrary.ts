/** Arbitrary memories that parse, and arbitrary pods under the application's name. */
import fc from "fast-check";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Memory, State } from "../../../../shared/spark/application/state/memory.ts";
import { digested, eight, pod, spec } from "./fixtures.ts";

const counts = fc.integer({ min: 0, max: 5 });
const instants = fc.integer({ min: -300, max: 300 }).map((seconds) => eight + seconds * 1_000);
const submissions = fc.constantFrom("submission-0", "submission-1", "submission-2");
const uids = fc.constantFrom("driver-0", "driver-1", "driver-2", "adopted");
const podNames = fc.constantFrom("spark-pi-driver", "other-driver");

const states: fc.Arbitrary<State> = fc.oneof(
  fc.constant({ phase: "" as const }),
  fc.record({
    phase: fc.constantFrom(
      "SUBMITTED",
      "RUNNING",
      "UNKNOWN",
      "INVALIDATING",
      "PENDING_RERUN",
      "SUSPENDING",
      "SUSPENDED",
      "RESUMING",
    ),
  }),
  fc.record({ phase: fc.constantFrom("SUCCEEDING", "COMPLETED"), endedAt: instants }),
  fc.record(
    {
      phase: fc.constantFrom("FAILING", "SUBMISSION_FAILED"),
      endedAt: instants,
      error: fc.string(),
      retryAt: instants,
    },
    { requiredKeys: ["phase", "endedAt", "error"] },
  ),
  fc.record({ phase: fc.constant("FAILED" as const), endedAt: instants, error: fc.string() }),
);

const drivers = fc.record(
  {
    attempt: counts,
    submissionId: submissions,
    applicationId: fc.string(),
    podName: podNames,
    submittedAt: instants,
    uid: uids,
  },
  { requiredKeys: ["attempt", "submissionId", "podName", "submittedAt"] },
);

export const memories: fc.Arbitrary<Memory> = fc.record(
  {
    generation: fc.constantFrom(1, 2),
    spec: fc.constantFrom(digested(spec), "before"),
    normaliser: fc.constantFrom(0, 1),
    attempt: counts,
    submissions: counts,
    executions: counts,
    plannedAt: instants,
    driver: drivers,
    rare: fc.uniqueArray(fc.constantFrom("ingress", "driverPdb", "volcano", "coscheduling")),
    state: states,
  },
  { requiredKeys: ["generation", "spec", "normaliser", "attempt", "submissions", "executions", "state"] },
);

const one: fc.Arbitrary<Stored> = fc
  .record({
    name: fc.constantFrom("spark-pi-driver", "other-driver", "exec-1", "exec-2"),
    uid: fc.constantFrom("driver-0", "driver-1", "driver-2", "exec-1", "exec-2"),
    role: fc.constantFrom("driver", "executor", "other"),
    owner: fc.constantFrom("app-1", "app-2", "driver-0", "driver-1"),
    submission: submissions,
    attempt: fc.constantFrom("none", "0", "1"),
    phase: fc.constantFrom("Pending", "Running", "Succeeded", "Failed", "Unknown", ""),
    reason: fc.string(),
    executor: counts,
    ending: fc.boolean(),
  })
  .chain((short) => fc.constantFrom(short, { ...short, exitCode: 0 }, { ...short, exitCode: 1 }))
  .map(pod);

/** Pods with distinct names, as in one namespace. */
export const crowds: fc.Arbitrary<readonly Stored[]> = fc.uniqueArray(one, {
  maxLength: 4,
  selector: ({ metadata }) => metadata.name,
});
