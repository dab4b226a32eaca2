/** Annotations of jobs: the meaning of each value, and the warning for each invalid one. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type AnnotationPolicies,
  annotationPoliciesOf,
  annotationPolicyLines,
} from "../../../../shared/volcano/job/annotations.ts";
import type { JobSpec } from "../../../../shared/volcano/schema/spec.ts";

const spec: JobSpec = {
  tasks: [
    { name: "chief", replicas: 1 },
    { name: "worker", replicas: 3 },
  ],
};

const read = (annotations: Readonly<Record<string, string>>) =>
  annotationPoliciesOf(
    {
      metadata: {
        ...{ name: "j", uid: "u", resourceVersion: "1" },
        annotations: Object.fromEntries(
          Object.entries(annotations).map(([name, text]) => [`rekindle.dev/${name}`, text]),
        ),
      },
    },
    spec,
  );

const plain = read({}).annotationPolicies;

describe("annotations of a job", () => {
  test("that are absent leave the defaults", () =>
    assert.deepEqual(plain, {
      ...{ backoffMs: undefined, backoffMaxMs: 360_000, goodRunMs: 600_000, deadlineMs: undefined },
      ...{ evictions: "count", leaving: "wait", resumes: "count", suspend: "false", exitCodes: [], success: [] },
      partial: undefined,
    }));

  const good: readonly (readonly [string, string, Partial<AnnotationPolicies>])[] = [
    ["restart-backoff", "10s", { backoffMs: 10_000 }],
    ["leaving-nodes", "evict", { leaving: "evict" }],
    ["restart-backoff-max", "1d", { backoffMaxMs: 86_400_000 }],
    ["restart-reset-after", "1h", { goodRunMs: 3_600_000 }],
    ["active-deadline", "30d", { deadlineMs: 2_592_000_000 }],
    ["evictions", "free", { evictions: "free" }],
    ["resumes", " free ", { resumes: "free" }],
    ["suspend", "true", { suspend: "true" }],
    ["exit-codes", "1=RestartPod", { exitCodes: [{ ranges: [[1, 1]], action: "RestartPod" }] }],
    [
      "exit-codes",
      "1-127, 200 = RestartTask; 137=AbortJob",
      {
        exitCodes: [
          {
            ranges: [
              [1, 127],
              [200, 200],
            ],
            action: "RestartTask",
          },
          { ranges: [[137, 137]], action: "AbortJob" },
        ],
      },
    ],
    ["success-targets", "chief", { success: [[{ task: "chief" }]] }],
    [
      "success-targets",
      "chief, worker=2 / worker = 3",
      { success: [[{ task: "chief" }, { task: "worker", count: 2 }], [{ task: "worker", count: 3 }]] },
    ],
  ];
  for (const [name, text, want] of good)
    test(`${name}: ${text}`, () =>
      assert.deepEqual(read({ [name]: text }), { annotationPolicies: { ...plain, ...want }, problems: [] }));

  test("partial-admission: worker, as far as the numbers of the job allow it", () => {
    const tasks = [
      { name: "chief", replicas: 1, minAvailable: 1 },
      { name: "worker", replicas: 4, minAvailable: 1 },
    ];
    const rows: readonly (readonly [Partial<JobSpec>, number | undefined])[] = [
      [{ tasks, minAvailable: 2 }, 1],
      [{ tasks, minAvailable: 3 }, 2],
      [{ tasks, minAvailable: 2, minSuccess: 4 }, 3],
      [{ tasks, minAvailable: 5 }, undefined],
      [{ tasks: [{ name: "worker", replicas: 4, minAvailable: 0 }], minAvailable: 0 }, 1],
      [{ tasks: [{ name: "worker", replicas: 4 }], minAvailable: 2 }, undefined],
    ];
    for (const [given, least] of rows) {
      const annotations = { "rekindle.dev/partial-admission": "worker" };
      const metadata = { name: "j", uid: "u", resourceVersion: "1", annotations };
      const { annotationPolicies, problems } = annotationPoliciesOf({ metadata }, given);
      assert.deepEqual(annotationPolicies.partial, least === undefined ? undefined : { task: "worker", least });
      assert.equal(problems.length, least === undefined ? 1 : 0);
    }
  });

  const bad: readonly (readonly [string, string, RegExp])[] = [
    ["restart-backoff", "0s", /restart-backoff\]: "0s" is not a duration from 1s to 1h.* no limit applies/],
    ["restart-backoff", "2h", /not a duration/],
    ["restart-backoff-max", "soon", /the default of 6m applies/],
    ["active-deadline", "31d", /1s to 30d/],
    ["evictions", "never", /is not one of count, free; the default of count applies/],
    ["suspend", "yes", /false, true/],
    ["exit-codes", "", /exit-codes\]: "" is not CODES=ACTION/],
    ["exit-codes", "0=RestartPod", /nothing of it applies/],
    ["exit-codes", "9-3=RestartPod", /nothing of it applies/],
    ["exit-codes", "1-256=RestartPod", /nothing of it applies/],
    ["exit-codes", "1=Explode", /nothing of it applies/],
    ["exit-codes", "1=SyncJob", /nothing of it applies/],
    ["exit-codes", "1=RestartPod;", /nothing of it applies/],
    ["exit-codes", "1=RestartPod=2", /nothing of it applies/],
    ["success-targets", "Chief", /nothing of it applies/],
    ["success-targets", "worker=0", /nothing of it applies/],
    ["success-targets", "chief /", /nothing of it applies/],
    ["success-targets", "worker=4", /the job has no task worker of 4 pods/],
    ["partial-admission", "worker=2", /nothing of it applies/],
    ["partial-admission", "nobody", /the job needs all pods of task nobody: lower minAvailable/],
    ["partial-admission", "worker", /the job needs all pods of task worker/],
    ["success-targets", "chief / nobody", /the job has no task nobody; nothing of it applies/],
  ];
  for (const [name, text, want] of bad)
    test(`${name}: ${JSON.stringify(text)} is reported as a problem, and the defaults apply`, () => {
      const { annotationPolicies, problems } = read({ [name]: text });
      assert.deepEqual([annotationPolicies, problems.length], [plain, 1]);
      assert.match(problems[0] ?? "", want);
    });
});

test("the table has a row for every annotation", () => {
  const lines = annotationPolicyLines();
  assert.equal(new Set(lines.map(({ annotation }) => annotation)).size, 11);
  const [first] = lines;
  assert.deepEqual(
    [first?.annotation, first?.default, first?.range],
    ["rekindle.dev/restart-backoff", "off", "1s to 1h"],
  );
});
