/** The admission round: the PodGroups that become Inqueue, their order, and the reasons of those that wait. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { noPodDefaults } from "../../../../shared/kube/pod-defaults.ts";
import { admissionOf } from "../../../../shared/volcano/gang/admission.ts";
import { openUsage } from "../../../../shared/volcano/gang/queue-usage.ts";

type Fields = Readonly<Record<string, unknown>>;

const eight = Date.UTC(2026, 10, 2, 8);

const queue = (name: string, spec: Fields = {}, state = "Open"): Stored => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name, uid: name, resourceVersion: "1" },
  spec,
  status: { state },
});

const group = (name: string, spec: Fields = {}, { phase = "", age = 0 } = {}): Stored => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "PodGroup",
  metadata: {
    name,
    namespace: "ns",
    uid: name,
    resourceVersion: "1",
    creationTimestamp: timeText(eight - age * 1_000),
  },
  spec: { queue: "q", minResources: { cpu: "1" }, ...spec },
  status: { phase },
});

/** Returns the verdict for each group, in order: why it waits, or "" if it enters. */
const verdicts = (
  queues: readonly Stored[],
  groups: readonly Stored[],
  classes: Readonly<Record<string, number>> = {},
): readonly (readonly [string, string])[] =>
  admissionOf({ queues, groups, priorities: new Map(Object.entries(classes)) }).verdicts.map((verdict) => [
    verdict.group.metadata.name,
    verdict.enters ? "" : verdict.why,
  ]);

const full = "queue q has too little cpu left";
const never = "queue q has 1 cpu in all, and 2 are needed";

const rows: readonly (readonly [
  string,
  readonly Stored[],
  readonly Stored[],
  readonly (readonly [string, string])[],
])[] = [
  [
    "an open queue without bounds admits every group",
    [queue("q")],
    [group("a"), group("b")],
    [
      ["a", ""],
      ["b", ""],
    ],
  ],
  ["a queue that does not exist admits no group", [], [group("a")], [["a", "queue q is not found"]]],
  ["a closed queue admits no group", [queue("q", {}, "Closed")], [group("a")], [["a", "queue q is Closed"]]],
  ["a queue that is Closing admits no group", [queue("q", {}, "Closing")], [group("a")], [["a", "queue q is Closing"]]],
  ["a queue without a state is open", [queue("q", {}, "")], [group("a")], [["a", ""]]],
  [
    "admitted groups take room in their queue, completed groups do not",
    [queue("q", { capability: { cpu: "2" } })],
    [
      group("in", {}, { phase: "Inqueue" }),
      group("done", {}, { phase: "Completed" }),
      group("a", {}, { age: 9 }),
      group("b"),
    ],
    [
      ["a", ""],
      ["b", full],
    ],
  ],
  [
    "groups that are Running or Unknown take room in their queue",
    [queue("q", { capability: { cpu: "2" } })],
    [group("r", {}, { phase: "Running" }), group("u", {}, { phase: "Unknown" }), group("a")],
    [["a", full]],
  ],
  [
    "a queue limits only the resources in its capability, exactly",
    [queue("q", { capability: { cpu: "1500m" } })],
    [group("a", { minResources: { cpu: "1.5", memory: "64Gi" } }), group("b", { minResources: { memory: "64Gi" } })],
    [
      ["a", ""],
      ["b", ""],
    ],
  ],
  [
    "a group without minResources always enters",
    [queue("q", { capability: { cpu: "0" } })],
    [group("a", { minResources: undefined })],
    [["a", ""]],
  ],
  [
    "a smaller group passes a group without room",
    [queue("q", { capability: { cpu: "1" } })],
    [group("big", { minResources: { cpu: "2" } }, { age: 9 }), group("small")],
    [
      ["big", never],
      ["small", ""],
    ],
  ],
  [
    "a smaller group does not pass in a queue that is first in, first out",
    [queue("q", { capability: { cpu: "1" }, dequeueStrategy: "fifo" })],
    [group("big", { minResources: { cpu: "2" } }, { age: 9 }), group("small")],
    [
      ["big", never],
      ["small", "others come before it in queue q"],
    ],
  ],
  [
    "queues share the capability of their parent, the higher priority first",
    [
      queue("root"),
      queue("up", { capability: { cpu: "1" } }),
      queue("q", { parent: "up" }),
      queue("p", { parent: "up", priority: 5 }),
    ],
    [group("a", {}, { age: 9 }), group("b", { queue: "p" })],
    [
      ["b", ""],
      ["a", "queue up has too little cpu left"],
    ],
  ],
  [
    "a cycle of queues is passed once",
    [queue("q", { parent: "p", capability: { cpu: "1" } }), queue("p", { parent: "q" })],
    [group("a"), group("b")],
    [
      ["a", ""],
      ["b", full],
    ],
  ],
  [
    "a group without a queue belongs to default",
    [queue("default", {}, "Closed")],
    [group("a", { queue: "" })],
    [["a", "queue default is Closed"]],
  ],
];

describe("in an admission round", () => {
  for (const [what, queues, groups, wanted] of rows)
    test(what, () => assert.deepEqual(verdicts(queues, groups), wanted));

  test("groups enter by the priority of their class, then by age", () => {
    const groups = [group("young"), group("old", {}, { age: 60 }), group("high", { priorityClassName: "high" })];
    assert.deepEqual(
      verdicts([queue("q")], groups, { high: 10 }).map(([name]) => name),
      ["high", "old", "young"],
    );
  });

  const sizes: readonly (readonly [what: string, podCpu: string, why: string])[] = [
    ["of their template leave room for another", "100m", ""],
    ["that an admission plug-in made larger leave none", "200m", full],
  ];
  for (const [what, podCpu, why] of sizes)
    test(`the created pods of a group ${what}`, () => {
      const containers = (cpu: string) => [{ name: "main", image: "busybox", resources: { requests: { cpu } } }];
      const ofJob = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job" };
      const job: Stored = {
        ...ofJob,
        metadata: { name: "in", namespace: "ns", uid: "job", resourceVersion: "1" },
        spec: {
          minAvailable: 2,
          tasks: [{ name: "w", replicas: 3, template: { spec: { containers: containers("100m") } } }],
        },
      };
      const pods = ["0", "1"].map(
        (name): Stored => ({
          ...{ apiVersion: "v1", kind: "Pod" },
          metadata: {
            ...{ name, namespace: "ns", uid: name, resourceVersion: "1" },
            annotations: { "scheduling.k8s.io/group-name": "in", "volcano.sh/task-spec": "w" },
          },
          spec: { containers: containers(podCpu) },
        }),
      );
      const admitted = group("in", { minResources: { cpu: "200m" } }, { phase: "Running" });
      const owned: Stored = {
        ...admitted,
        metadata: {
          ...admitted.metadata,
          ownerReferences: [{ ...ofJob, name: "in", uid: "job", controller: true }],
          annotations: { "rekindle.dev/queue-room": JSON.stringify({ w: 3 }) },
        },
      };
      const priorities = new Map<string, number>();
      const { verdicts: found } = admissionOf({
        queues: [queue("q", { capability: { cpu: "700m" } })],
        groups: [owned, group("next", { minResources: { cpu: "200m" } })],
        priorities,
        usage: openUsage({ pods, jobs: [job], priorities, defaults: noPodDefaults }),
      });
      assert.deepEqual(
        found.map((verdict) => (verdict.enters ? "" : verdict.why)),
        [why],
      );
    });

  test("groups that are being deleted do not enter", () => {
    const leaving = group("a");
    const metadata = { ...leaving.metadata, deletionTimestamp: timeText(eight) };
    assert.deepEqual(verdicts([queue("q")], [{ ...leaving, metadata }]), []);
  });
});
