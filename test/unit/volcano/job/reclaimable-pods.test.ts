/** The quota of succeeded pods: what a job gives back, when it gives nothing back, and when it needs it again. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { annotationPoliciesOf } from "../../../../shared/volcano/job/annotations.ts";
import type { Memory } from "../../../../shared/volcano/job/memory.ts";
import { seeded } from "../../../../shared/volcano/job/memory.ts";
import { reclaimablePods, shortageOf } from "../../../../shared/volcano/job/reclaimable-pods.ts";
import type { JobSpec } from "../../../../shared/volcano/schema/spec.ts";

const tasks = [
  { name: "a", replicas: 3 },
  { name: "b", replicas: 1 },
];

const job: Stored = {
  ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job" },
  metadata: { name: "j", namespace: "ns", uid: "u", resourceVersion: "1" },
};

const workloadOf = (back: readonly object[]): Stored => ({
  ...job,
  kind: "Workload",
  status: { reclaimablePods: back },
});

const contextOf = (
  done: Memory["done"],
  {
    spec = {},
    phase = "Running" as Memory["phase"],
    annotations = {},
  }: { spec?: object; phase?: Memory["phase"]; annotations?: Record<string, string> } = {},
) => {
  const whole: JobSpec = { tasks, ...spec };
  const object = { ...job, metadata: { ...job.metadata, annotations } };
  const { annotationPolicies } = annotationPoliciesOf(object, whole);
  return { spec: whole, memory: { ...seeded(job, 0), phase, done }, annotationPolicies };
};

describe("the quota of succeeded pods", () => {
  const one = [{ name: "a", count: 1 }];
  const rows = [
    ["nothing has ended", contextOf({}), [], undefined],
    ["pods of one task have ended", contextOf({ a: "0-1" }), [], [{ name: "a", count: 2 }]],
    ["the Workload says so already", contextOf({ a: "2" }), one, undefined],
    ["another one has ended", contextOf({ a: "2", b: "0" }), one, [...one, { name: "b", count: 1 }]],
    ["the numbers would shrink", contextOf({ b: "0" }), one, [...one, { name: "b", count: 1 }]],
    ["the job does not run", contextOf({ a: "0" }, { phase: "Completing" }), [], undefined],
    [
      "a policy of the job restarts it",
      contextOf({ a: "0" }, { spec: { policies: [{ event: "PodFailed", action: "RestartJob" }] } }),
      ...[[], undefined],
    ],
    [
      "a policy of a task restarts that",
      contextOf(
        { a: "0" },
        { spec: { tasks: [{ ...tasks[0], policies: [{ event: "PodFailed", action: "RestartTask" }] }] } },
      ),
      ...[[], undefined],
    ],
    [
      "a policy restarts the failed pod alone",
      contextOf({ a: "0" }, { spec: { policies: [{ event: "PodFailed", action: "RestartPod" }] } }),
      ...[[], one],
    ],
    [
      "an annotation restarts the job",
      contextOf({ a: "0" }, { annotations: { "rekindle.dev/exit-codes": "1-9=RestartJob" } }),
      ...[[], undefined],
    ],
  ] as const;
  for (const [when, context, back, wanted] of rows)
    test(`is ${wanted === undefined ? "left" : "given back"} when ${when}`, () => {
      assert.deepEqual(reclaimablePods(context, workloadOf(back)), wanted);
    });

  test("is lacking when pods run again whose quota was given back", () => {
    const workload = workloadOf([{ name: "a", count: 2 }]);
    assert.equal(shortageOf(contextOf({ a: "0-1", b: "0" }), workload), undefined);
    assert.equal(
      shortageOf(contextOf({ a: "1" }), workload),
      "pods of task a run again although their quota was given back",
    );
    assert.equal(shortageOf(contextOf({}), workloadOf([])), undefined);
  });
});
