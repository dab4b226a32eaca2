/** Mutants of what displays say of an application: each must say what the record says; the tests named must fail on each. */
import type { Mutant } from "./mutants.ts";

const folder = "shared/deployments/page";
const testsOf = (name: string): readonly string[] => [`test/unit/deployments/page/${name}.test.ts`];

export const verdictMutants: readonly Mutant[] = [
  {
    name: "pod-judges-executor",
    promise: "the record's word about an executor's end replaces what its pod shows",
    file: `${folder}/lanes.ts`,
    find: "recorded === undefined ? shownLoss(one, drivers)",
    replace: "reasons.size >= 0 ? shownLoss(one, drivers)",
    tests: testsOf("lanes"),
  },
  {
    name: "clean-exit-lost",
    promise: "an executor that exited with 0 is no loss before a step has judged it",
    file: `${folder}/lanes.ts`,
    find: "|| lane.exit === 0 ||",
    replace: "|| lane.exit === 999 ||",
    tests: testsOf("lanes"),
  },
  {
    name: "waiting-driver-billed",
    promise: "no driver is billed before it started",
    file: "shared/inspection/usage.ts",
    find: "upAt: run.upAt ?? assumedStart(record, run)",
    replace: "upAt: run.upAt ?? run.submittedAt",
    tests: ["test/unit/inspection/usage.test.ts"],
  },
  {
    name: "pulled-image-billed",
    promise: "a pod whose image is being pulled has not started",
    file: "shared/kube/pods.ts",
    find: 'phase === "Running" || states.some((state) => state !== undefined) ? instantOf(startTime) : undefined',
    replace: "instantOf(startTime)",
    tests: ["test/unit/kube/pods.test.ts", "test/unit/spark/executors/lifetimes.test.ts"],
  },
  {
    name: "unscheduled-driver-submitted",
    promise: "a driver that no node takes is among what waits",
    file: `${folder}/projection.ts`,
    find: 'group === "submitted" && isHeldUp(record)',
    replace: 'group === "submitted" && isHeldUp(undefined)',
    tests: testsOf("board"),
  },
  {
    name: "unknown-use-is-zero",
    promise: "the use of a queue is not known before a group was seen",
    file: `${folder}/queue-use.ts`,
    find: "if (uses === undefined) return rows;",
    replace: "if (uses === undefined) return withUse(rows, new Map(), podsOf);",
    calls: "const withUse = (\n  rows: readonly QueueRow[],",
    tests: testsOf("queue-use"),
  },
  {
    name: "failed-job-without-reason",
    promise: "the status of a failed job says which pod failed, and how many retries are used",
    file: "shared/volcano/job/apply-action.ts",
    find: "withWhy(next, endReason(context, before, into))",
    replace: "withWhy(next, undefined)",
    tests: ["test/unit/volcano/job/end-reason.test.ts"],
  },
  {
    name: "planned-ends-lost",
    promise: "executors that ended as planned are not counted as lost, on the page and by status",
    file: "shared/inspection/record.ts",
    find: "filter(([reason]) => !plannedEnds.includes(reason))",
    replace: 'filter(([reason]) => reason !== "finished")',
    tests: testsOf("board"),
  },
  {
    name: "waiting-attempt-runs",
    promise: "an attempt whose driver has not run yet is not called running",
    file: "shared/page/timeline.ts",
    find: 'passages.some(({ group }) => group === "running") ? "running" : "submitted"',
    replace: 'passages.length > 0 ? "running" : "submitted"',
    tests: ["test/unit/page/timeline.test.ts"],
  },
];
