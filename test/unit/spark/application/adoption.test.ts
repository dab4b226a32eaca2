/**
 * Adoption of upstream's applications in each state, without a record: the state after the step, its effects, and the
 * fields that are kept.
 */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Phase } from "../../../../shared/spark/application/state/memory.ts";
import { waitIn } from "../../../support/plans.ts";
import { application, decided, eight, pod, type Short, spec } from "./fixtures.ts";

const web = { webUIServiceName: "spark-pi-ui-svc", webUIPort: 4040, webUIAddress: "10.1.2.3:4040" };

/** A status as upstream writes it, with null for unset times, and the service of the web UI. */
const status = (state: Phase, more: object = {}) => ({
  applicationState: { state },
  driverInfo: { podName: "spark-pi-driver", ...web },
  sparkApplicationId: "spark-1",
  submissionID: "submission-1",
  lastSubmissionAttemptTime: "2026-11-02T07:59:30Z",
  terminationTime: null,
  submissionAttempts: 3,
  executionAttempts: 2,
  executorState: { "pi-exec-1": "RUNNING" },
  ...more,
});

/** A status after upstream's reset: ids and times of the run are removed, counters and the submission's id stay. */
const reset = (state: Phase) =>
  status(state, { driverInfo: {}, sparkApplicationId: undefined, executorState: undefined });

const ended = { terminationTime: "2026-11-02T07:59:50Z" };
const failed = { ...ended, applicationState: { state: "FAILING", errorMessage: "driver container failed" } };

const driver: Short = { attempt: "none" };
const executor: Short = {
  name: "pi-exec-1",
  uid: "e1",
  role: "executor",
  owner: "driver-1",
  executor: 1,
  attempt: "none",
};
const done: Short = { ...driver, phase: "Succeeded", exitCode: 0 };
const broken: Short = { ...driver, phase: "Failed", exitCode: 1 };
/** A driver whose operator died before it wrote the submission to the status. */
const hidden: Short = { ...driver, uid: "driver-9", submission: "submission-9" };

const onFailure = { type: "OnFailure", onFailureRetries: 5, onFailureRetryInterval: 30 };
const onRefusal = { type: "OnFailure", onSubmissionFailureRetries: 5, onSubmissionFailureRetryInterval: 30 };

type Row = {
  readonly left: string;
  readonly status?: object;
  readonly spec?: object;
  readonly pods?: readonly Short[];
  /** The phase after one decision, then + for a new driver and - for pods that are ended. */
  readonly becomes: string;
  /** Submissions and executions after the decision, if they change. */
  readonly counts?: readonly [number, number];
};

const rows: readonly Row[] = [
  { left: "New, without pods", becomes: "SUBMITTED +", counts: [1, 1] },
  {
    left: "SUBMITTED, its driver pending",
    status: status("SUBMITTED"),
    pods: [{ ...driver, phase: "Pending" }],
    becomes: "SUBMITTED",
  },
  {
    left: "SUBMITTED, its driver running by now",
    status: status("SUBMITTED"),
    pods: [driver, executor],
    becomes: "RUNNING",
  },
  { left: "SUBMITTED, its driver gone", status: status("SUBMITTED"), becomes: "FAILED" },
  {
    left: "RUNNING, its driver gone and its name taken by a foreign pod",
    status: status("RUNNING"),
    pods: [{ ...driver, owner: "app-2" }, executor],
    becomes: "FAILED",
  },
  { left: "RUNNING", status: status("RUNNING"), pods: [driver, executor], becomes: "RUNNING" },
  {
    left: "RUNNING, its driver completed by now",
    status: status("RUNNING"),
    pods: [done, executor],
    becomes: "COMPLETED",
  },
  { left: "RUNNING, its driver failed by now", status: status("RUNNING"), pods: [broken, executor], becomes: "FAILED" },
  {
    left: "RUNNING, by an operator without submission ids",
    status: status("RUNNING", { submissionID: undefined }),
    pods: [driver, executor],
    becomes: "RUNNING",
  },
  { left: "UNKNOWN", status: status("UNKNOWN"), pods: [{ ...driver, phase: "Unknown" }, executor], becomes: "UNKNOWN" },
  { left: "SUCCEEDING", status: status("SUCCEEDING", ended), pods: [done, executor], becomes: "COMPLETED" },
  {
    left: "SUCCEEDING, with restart policy Always",
    status: status("SUCCEEDING", ended),
    spec: { restartPolicy: { type: "Always" } },
    pods: [done],
    becomes: "SUCCEEDING -",
  },
  { left: "FAILING, no retry left", status: status("FAILING", failed), pods: [broken], becomes: "FAILED" },
  {
    left: "FAILING, its retry not due",
    status: status("FAILING", failed),
    spec: { restartPolicy: onFailure },
    pods: [broken],
    becomes: "FAILING",
  },
  {
    left: "FAILING, its retry due",
    status: status("FAILING", { ...failed, lastSubmissionAttemptTime: "2026-11-02T07:50:00Z" }),
    spec: { restartPolicy: onFailure },
    pods: [broken],
    becomes: "FAILING -",
  },
  { left: "FAILING, no driver any more", status: status("FAILING", failed), becomes: "FAILED" },
  { left: "SUBMISSION_FAILED, no retry left", status: reset("SUBMISSION_FAILED"), becomes: "FAILED" },
  {
    left: "SUBMISSION_FAILED, its retry not due",
    status: reset("SUBMISSION_FAILED"),
    spec: { restartPolicy: onRefusal },
    becomes: "SUBMISSION_FAILED",
  },
  {
    left: "SUBMISSION_FAILED, its retry submitted but not in the status",
    status: reset("SUBMISSION_FAILED"),
    spec: { restartPolicy: onRefusal },
    pods: [hidden],
    becomes: "RUNNING",
    counts: [4, 3],
  },
  {
    left: "SUBMISSION_FAILED, half created",
    status: reset("SUBMISSION_FAILED"),
    spec: { restartPolicy: { ...onRefusal, onSubmissionFailureRetryInterval: 1 } },
    pods: [{ ...driver, phase: "Pending" }],
    becomes: "SUBMISSION_FAILED -",
  },
  {
    left: "INVALIDATING",
    status: status("INVALIDATING"),
    pods: [driver, executor],
    becomes: "INVALIDATING -",
    counts: [3, 2],
  },
  {
    left: "PENDING_RERUN, its old driver ending",
    status: reset("PENDING_RERUN"),
    pods: [{ ...driver, ending: true }],
    becomes: "PENDING_RERUN",
  },
  { left: "PENDING_RERUN, all gone", status: reset("PENDING_RERUN"), becomes: "SUBMITTED +", counts: [4, 3] },
  {
    left: "PENDING_RERUN, submitted but not in the status",
    status: reset("PENDING_RERUN"),
    pods: [hidden],
    becomes: "RUNNING",
    counts: [4, 3],
  },
  {
    left: "PENDING_RERUN, submitted but not in the status, and completed by now",
    status: reset("PENDING_RERUN"),
    pods: [{ ...done, ...{ uid: "driver-9", submission: "submission-9" } }],
    becomes: "COMPLETED",
    counts: [4, 3],
  },
  {
    left: "SUSPENDING",
    status: status("SUSPENDING"),
    spec: { suspend: true },
    pods: [driver, executor],
    becomes: "SUSPENDING -",
  },
  { left: "SUSPENDED", status: reset("SUSPENDED"), spec: { suspend: true }, becomes: "SUSPENDED" },
  {
    left: "SUSPENDED, its spec resumed by now",
    status: reset("SUSPENDED"),
    becomes: "SUBMITTED +",
    counts: [4, 3],
  },
  { left: "RESUMING", status: reset("RESUMING"), becomes: "SUBMITTED +", counts: [4, 3] },
  {
    left: "RESUMING, submitted but not in the status",
    status: reset("RESUMING"),
    pods: [hidden],
    becomes: "RUNNING",
    counts: [4, 3],
  },
  { left: "COMPLETED", status: status("COMPLETED", ended), pods: [done], becomes: "COMPLETED" },
  { left: "FAILED", status: status("FAILED", ended), pods: [broken], becomes: "FAILED" },
  { left: "FAILED by its submission", status: status("FAILED", { ...ended, driverInfo: {} }), becomes: "FAILED" },
  {
    left: "RUNNING, its spec suspended by now",
    status: status("RUNNING"),
    spec: { suspend: true },
    pods: [driver],
    becomes: "SUSPENDING -",
  },
];

const mended = (value: object | undefined): object | undefined =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));

const take = (row: Row) => {
  const object = application({ spec: { ...spec, ...row.spec }, status: mended(row.status) });
  return { object, plan: decided({ object, pods: (row.pods ?? []).map(pod) }).plan };
};

const shown = ({ plan }: ReturnType<typeof take>): string => {
  const effects = plan.stages.flat();
  const creates = effects.some((effect) => effect.do === "create" && effect.resource.plural === "pods");
  const deletes = effects.some((effect) => effect.do === "delete");
  return `${plan.memory.state.phase}${creates ? " +" : ""}${deletes ? " -" : ""}`;
};

describe("adoption of upstream's application without a record", () => {
  for (const row of rows) {
    test(`${row.left}: ${row.becomes}`, () => {
      const taken = take(row);
      assert.equal(shown(taken), row.becomes);
      const { submissions, executions } = taken.plan.memory;
      assert.deepEqual([submissions, executions], row.counts ?? [3, 2]);
      assert.ok(taken.plan.memory.attempt >= submissions, "no attempt is handed out twice");
    });
  }

  test("the rows cover every state of upstream", () => {
    const states = new Set(rows.map(({ left }) => left.split(/[ ,]/)[0]));
    assert.deepEqual([...states].sort(), [
      ...["COMPLETED", "FAILED", "FAILING", "INVALIDATING", "New", "PENDING_RERUN", "RESUMING", "RUNNING"],
      ...["SUBMISSION_FAILED", "SUBMITTED", "SUCCEEDING", "SUSPENDED", "SUSPENDING", "UNKNOWN"],
    ]);
  });

  test("an adopted run keeps its ids, its web UI, its times and its executors' states", () => {
    const { plan } = take({ left: "", status: status("RUNNING"), pods: [driver, executor], becomes: "" });
    const { terminationTime: _, ...rest } = { ...status("RUNNING") };
    assert.deepEqual(plan.status, rest);
  });

  for (const left of ["RUNNING", "SUSPENDING", "INVALIDATING"] as const)
    test(`${left}: the step waits for executors that outlive the driver, although only the driver owned them`, () => {
      const object = application({ spec: { ...spec, suspend: left !== "INVALIDATING" }, status: status(left) });
      const { memory } = decided({ object, pods: [driver, executor].map(pod) }).plan;
      const { plan } = decided({ object, memory, pods: [pod({ ...executor, ending: true })] });
      assert.match(`${plan.memory.state.phase} ${waitIn(plan).waitsFor}`, new RegExp(`${memory.state.phase} 1 object`));
    });

  test("a driver that is not in the status brings its own ids", () => {
    const { plan } = take({ left: "", status: reset("PENDING_RERUN"), pods: [hidden], becomes: "" });
    const { attempt, submissionId, uid, podName } = plan.memory.driver ?? {};
    assert.deepEqual([attempt, submissionId, uid, podName], [4, "submission-9", "driver-9", "spark-pi-driver"]);
    assert.equal(plan.status?.["submissionID"], "submission-9");
  });

  test("the newer of two drivers that are not in the status is the run's driver, and the older is deleted", () => {
    const made = (short: Short, creationTimestamp: string): Stored => {
      const one = pod(short);
      return { ...one, metadata: { ...one.metadata, creationTimestamp } };
    };
    const older = made(
      { ...hidden, name: "other", uid: "driver-8", submission: "submission-8" },
      "2026-11-02T07:00:00Z",
    );
    const newer = made(hidden, "2026-11-02T07:30:00Z");
    const object = application({ status: mended(reset("PENDING_RERUN")) });
    const { plan } = decided({ object, pods: [older, newer] });
    assert.equal(plan.memory.driver?.uid, "driver-9");
    const ended = plan.stages.flat().flatMap((effect) => (effect.do === "delete" ? [effect.uid] : []));
    assert.deepEqual(ended, ["driver-8"]);
  });

  test("a foreign pod, or a pod that is being deleted, is not adopted as driver", () => {
    for (const stranger of [
      { ...hidden, owner: "app-2" },
      { ...hidden, ending: true },
      { ...hidden, role: "executor" },
    ]) {
      const { plan } = take({ left: "", status: reset("PENDING_RERUN"), pods: [stranger], becomes: "" });
      assert.equal(plan.memory.driver?.uid, undefined);
    }
  });

  test("Rekindle's own driver, whose record was lost, keeps the number of its attempt", () => {
    const ours = { ...hidden, attempt: "7" };
    const { plan } = take({ left: "", status: reset("PENDING_RERUN"), pods: [ours], becomes: "" });
    assert.deepEqual([plan.memory.attempt, plan.memory.state.phase], [7, "RUNNING"]);
  });

  test("Rekindle's own driver, whose record was lost before its first executor, gets ids that no executor had", () => {
    const bare = pod({ ...hidden, attempt: "7" });
    const annotations = { "rekindle.dev/executors": "own" };
    const marked: Stored = { ...bare, metadata: { ...bare.metadata, annotations } };
    const object = application({ status: mended(reset("PENDING_RERUN")) });
    const [own, driverMade] = [marked, bare].map((one) => decided({ object, pods: [one] }).plan.memory.allotment);
    assert.deepEqual([own?.attempt, own?.next], [7, 11_001]);
    assert.equal(driverMade, undefined);
  });

  test("a retry is due at the time at which upstream would retry", () => {
    const { plan } = take({
      left: "",
      status: status("FAILING", failed),
      spec: { restartPolicy: onFailure },
      pods: [broken],
      becomes: "",
    });
    assert.equal(waitIn(plan).wakeAt, eight - 30_000 + 3 * 30_000);
  });
});
