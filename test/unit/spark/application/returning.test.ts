/**
 * The way back: upstream continues an application from every state in which Rekindle leaves it, and nothing runs twice.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import type { Memory } from "../../../../shared/spark/application/state/memory.ts";
import { application, decided, driver, eight, pod, remembered, type Short, spec } from "./fixtures.ts";
import { upstreamDoes, upstreamExecutors, upstreamHears } from "./upstream.ts";

const endedAt = eight - 5_000;
const onFailure = { type: "OnFailure", onFailureRetries: 3, onFailureRetryInterval: 90 };
const onRefusal = { type: "OnFailure", onSubmissionFailureRetries: 3, onSubmissionFailureRetryInterval: 90 };
const executor: Short = { name: "pi-exec-1", uid: "e1", role: "executor", owner: "driver-1", executor: 1 };

type Row = {
  readonly we: string;
  readonly memory?: Partial<Memory>;
  readonly spec?: object;
  readonly pods?: readonly Short[];
  readonly upstream: string;
};

const ran = { driver };

const rows: readonly Row[] = [
  {
    we: "wait for a driver to start",
    memory: { ...ran, state: { phase: "SUBMITTED" } },
    pods: [{ phase: "Pending" }],
    upstream: "follow: SUBMITTED",
  },
  {
    we: "follow a run",
    memory: { ...ran, state: { phase: "RUNNING" } },
    pods: [{}, executor],
    upstream: "follow: RUNNING",
  },
  {
    we: "have a driver in the phase Unknown",
    memory: { ...ran, state: { phase: "RUNNING" } },
    pods: [{ phase: "Unknown" }],
    upstream: "follow: UNKNOWN",
  },
  {
    we: "have just seen a run succeed",
    memory: { ...ran, state: { phase: "RUNNING" } },
    pods: [{ phase: "Succeeded", exitCode: 0 }],
    upstream: "rest",
  },
  {
    we: "have just seen a run fail",
    memory: { ...ran, state: { phase: "RUNNING" } },
    pods: [{ phase: "Failed", exitCode: 1 }],
    upstream: "rest",
  },
  { we: "have just lost a driver", memory: { ...ran, state: { phase: "RUNNING" } }, upstream: "rest" },
  {
    we: "wait for a retry",
    memory: { ...ran, state: { phase: "FAILING", endedAt, error: "x", retryAt: eight + 30_000 } },
    spec: { restartPolicy: onFailure },
    pods: [{ phase: "Failed", exitCode: 1 }],
    upstream: "wait until 2026-11-02T08:00:30.000Z",
  },
  {
    we: "delete the pods of a failed run for its retry",
    memory: { ...ran, plannedAt: 0, state: { phase: "FAILING", endedAt, error: "x", retryAt: eight - 1 } },
    spec: { restartPolicy: { ...onFailure, onFailureRetryInterval: 1 } },
    pods: [{ phase: "Failed", exitCode: 1 }],
    upstream: "end the driver, then move: PENDING_RERUN",
  },
  {
    we: "have cleared a failed run",
    memory: { ...ran, plannedAt: 0, state: { phase: "FAILING", endedAt, error: "x", retryAt: eight - 1 } },
    spec: { restartPolicy: onFailure },
    upstream: "submit",
  },
  {
    we: "are to run a success again",
    memory: { ...ran, state: { phase: "SUCCEEDING", endedAt: eight + 9_000 } },
    spec: { restartPolicy: { type: "Always", onFailureRetryInterval: 5 } },
    pods: [{ phase: "Succeeded", exitCode: 0 }],
    upstream: "end the driver, then move: PENDING_RERUN",
  },
  {
    we: "wait to submit again after a refusal",
    memory: {
      submissions: 2,
      executions: 0,
      state: { phase: "SUBMISSION_FAILED", endedAt, error: "no", retryAt: endedAt + 180_000 },
    },
    spec: { restartPolicy: onRefusal },
    upstream: "wait until 2026-11-02T08:02:55.000Z",
  },
  {
    we: "have a refused submission without a retry",
    memory: { submissions: 1, executions: 0, state: { phase: "SUBMISSION_FAILED", endedAt, error: "no" } },
    upstream: "rest",
  },
  {
    we: "end an invalidated run",
    memory: { ...ran, state: { phase: "INVALIDATING" } },
    pods: [{}],
    upstream: "end the driver, then move: PENDING_RERUN, counters at zero",
  },
  {
    we: "wait for old pods to go",
    memory: { state: { phase: "PENDING_RERUN" } },
    pods: [{ ending: true }],
    upstream: "wait for the driver's end",
  },
  {
    we: "keep the distance between two drivers",
    memory: { plannedAt: eight - 1_000, state: { phase: "PENDING_RERUN" } },
    upstream: "submit",
  },
  {
    we: "suspend",
    memory: { ...ran, state: { phase: "SUSPENDING" } },
    spec: { suspend: true },
    pods: [{}],
    upstream: "end the driver, then move: SUSPENDED",
  },
  { we: "have suspended", memory: { state: { phase: "SUSPENDED" } }, spec: { suspend: true }, upstream: "rest" },
  {
    we: "resume, at a distance",
    memory: { plannedAt: eight - 1_000, state: { phase: "RESUMING" } },
    upstream: "submit",
  },
  {
    we: "have completed it",
    memory: { ...ran, state: { phase: "COMPLETED", endedAt } },
    pods: [{ phase: "Succeeded", exitCode: 0 }],
    upstream: "rest",
  },
  {
    we: "have completed it, with a time to live",
    memory: { ...ran, state: { phase: "COMPLETED", endedAt } },
    spec: { timeToLiveSeconds: 60 },
    pods: [{ phase: "Succeeded" }],
    upstream: "delete the application at 2026-11-02T08:00:55.000Z",
  },
  {
    we: "have it as FAILED",
    memory: { ...ran, state: { phase: "FAILED", endedAt, error: "x" } },
    pods: [{ phase: "Failed" }],
    upstream: "rest",
  },
];

/** Returns the object and the pods as a step leaves them: the status written, the deletions begun. */
const leave = (row: Row): { readonly object: Stored; readonly pods: readonly Stored[] } => {
  const before = application({
    spec: { ...spec, ...row.spec },
    status: { lastSubmissionAttemptTime: "2026-11-02T07:59:00Z" },
  });
  const digest = { generation: 1, normaliser: 0 };
  const pods = (row.pods ?? []).map(pod);
  const { plan } = decided({ object: before, memory: remembered({ ...digest, ...row.memory }), pods });
  const ended = new Set(plan.stages.flat().flatMap((effect) => (effect.do === "delete" ? [effect.uid] : [])));
  const ending = (one: Stored): Stored =>
    ended.has(one.metadata.uid)
      ? { ...one, metadata: { ...one.metadata, deletionTimestamp: "2026-11-02T08:00:00Z" } }
      : one;
  return { object: { ...before, status: JSON.parse(JSON.stringify(plan.status)) }, pods: pods.map(ending) };
};

describe("upstream continues an application for which we", () => {
  for (const row of rows) {
    test(`${row.we}: ${row.upstream}`, () => {
      const { object, pods } = leave(row);
      assert.equal(upstreamDoes(object, pods, eight), row.upstream);
    });
  }

  test("upstream submits a new application itself, and obeys spec.suspend", () => {
    assert.equal(upstreamDoes(application(), [], eight), "submit");
    const suspended = application({ spec: { ...spec, suspend: true } });
    assert.equal(upstreamDoes(suspended, [], eight), "move: SUSPENDING");
  });

  test("upstream's selectors find the pods that Rekindle created, and their events reach it", () => {
    const made = decided({ object: application() }).plan;
    const pods = made.stages.flat().flatMap((effect) =>
      effect.do === "create" && effect.resource.plural === "pods"
        ? [
            {
              ...effect.object,
              metadata: { ...effect.object.metadata, uid: "d", resourceVersion: "1" },
              status: { phase: "Running" },
            },
          ]
        : [],
    );
    const object = application({ status: JSON.parse(JSON.stringify(made.status)) });
    assert.equal(upstreamDoes(object, pods, eight), "follow: RUNNING");
    assert.deepEqual(
      pods.map((one) => upstreamHears(object, one)),
      [true],
    );
    const text = JSON.stringify(made.stages);
    const id = String(
      object["status"] instanceof Object && "submissionID" in object["status"] ? object["status"].submissionID : "",
    );
    assert.match(text, new RegExp(`spark.kubernetes.executor.label.sparkoperator.k8s.io/submission-id=${id}`));
    assert.match(text, /spark.kubernetes.executor.label.sparkoperator.k8s.io\/app-name=spark-pi/);
    const executors = [
      pod({ ...executor, submission: id }),
      pod({ ...executor, name: "older", submission: "another" }),
    ];
    assert.deepEqual(upstreamExecutors(object, executors), ["pi-exec-1"]);
  });
});
