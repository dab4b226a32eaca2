/** Jobs that a PodGroup of Kubernetes can say, and those that it cannot. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { beyondNative, classIn, minimumOf } from "../../../../shared/volcano/native/expressible.ts";
import { largestFirst } from "../../../../shared/volcano/native/size.ts";
import type { JobSpec, Task } from "../../../../shared/volcano/schema/spec.ts";

const task = (name: string, replicas: number, more: Partial<Task> = {}): Task => ({ name, replicas, ...more });

const withPod = (name: string, spec: Readonly<Record<string, unknown>>): Task => task(name, 2, { template: { spec } });

const on = (...name: readonly string[]): Partial<Task> => ({ dependsOn: { name: [...name] } });

type Row = readonly [what: string, spec: JobSpec, why: string | undefined];

const hard = { mode: "hard" };

const rows: readonly Row[] = [
  ["all of two tasks", { minAvailable: 5, tasks: [task("a", 2), task("b", 3)] }, undefined],
  ["any two of one task", { minAvailable: 2, tasks: [task("a", 4, { minAvailable: 2 })] }, undefined],
  [
    "less than the tasks need together, so that these minima do not count",
    { minAvailable: 2, tasks: [task("a", 2), task("b", 3)] },
    undefined,
  ],
  [
    "a minimum of each of two tasks, which three pods of one would not keep",
    { minAvailable: 3, tasks: [task("a", 3, { minAvailable: 1 }), task("b", 3, { minAvailable: 2 })] },
    "one number of pods does not keep the minAvailable of each task",
  ],
  [
    "a task without a minimum beside one of which all are needed",
    { minAvailable: 4, tasks: [task("a", 3), task("b", 1, { minAvailable: 0 })] },
    undefined,
  ],
  [
    "a task that waits for another, with all pods of both",
    { minAvailable: 4, tasks: [task("a", 2), task("b", 2, on("a"))] },
    undefined,
  ],
  [
    "a task that waits for another, with a part of one",
    { minAvailable: 3, tasks: [task("a", 2, { minAvailable: 1 }), task("b", 2, on("a"))] },
    "one number of pods does not keep the minAvailable of each task",
  ],
  ["a partition", { tasks: [task("a", 2, { partitionPolicy: { partitionSize: 1 } })] }, "task a has a partitionPolicy"],
  ["a hard topology", { networkTopology: hard, tasks: [task("a", 2)] }, "the job has a hard networkTopology"],
  [
    "different classes",
    { tasks: [withPod("a", { priorityClassName: "high" }), task("b", 2)] },
    "its tasks have different priority classes",
  ],
  [
    "one class in two places",
    { minAvailable: 4, priorityClassName: "high", tasks: [withPod("a", { priorityClassName: "high" }), task("b", 2)] },
    undefined,
  ],
  ["a scheduler of others", { tasks: [withPod("a", { schedulerName: "mine" })] }, "task a has the scheduler mine"],
  [
    "Volcano's scheduler, which is not there",
    { minAvailable: 2, schedulerName: "volcano", tasks: [withPod("a", { schedulerName: "" })] },
    undefined,
  ],
  [
    "a group of its own",
    { tasks: [withPod("a", { schedulingGroup: { podGroupName: "mine" } })] },
    "task a names a schedulingGroup of its own",
  ],
];

for (const [what, spec, why] of rows)
  test(`a job with ${what} ${why === undefined ? "can be placed by a PodGroup of Kubernetes" : "needs a plan"}`, () => {
    assert.equal(beyondNative(spec), why);
  });

test("the number of a group is the minimum of the tasks that may start", () => {
  const spec: JobSpec = { minAvailable: 5, tasks: [task("a", 2), task("b", 3, on("a"))] };
  assert.equal(
    minimumOf(spec, ({ name }) => name === "a"),
    2,
  );
  assert.equal(
    minimumOf(spec, () => true),
    5,
  );
});

test("the class of a group is that of its pods", () => {
  assert.equal(classIn({ priorityClassName: "high", tasks: [task("a", 1)] }), "high");
  assert.equal(classIn({ tasks: [withPod("a", { priorityClassName: "low" })] }), "low");
  assert.equal(classIn({ tasks: [task("a", 1)] }), "");
});

const asking = (name: string, requests: Readonly<Record<string, string>>): Task =>
  withPod(name, { containers: [{ name: "c", resources: { requests } }] });

test("larger pods come first: devices before cpu, cpu before memory; equal ones have one wave", () => {
  const tasks = [
    asking("small", { cpu: "1" }),
    asking("wide", { cpu: "4", memory: "1Gi" }),
    asking("twin", { cpu: "1000m" }),
    asking("gpu", { cpu: "1", "nvidia.com/gpu": "1" }),
    asking("full", { cpu: "4", memory: "2Gi" }),
  ];
  assert.deepEqual(
    largestFirst(tasks.map((one) => ({ task: one }))).map(({ task: { name }, wave }) => `${name} ${wave}`),
    ["gpu 0", "full 1", "wide 2", "small 3", "twin 3"],
  );
});
