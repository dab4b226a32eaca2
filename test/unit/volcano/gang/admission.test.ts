/** The admission round: the PodGroups that become Inqueue, their order, and the reasons of those that wait. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { verdictsOf } from "../../../../shared/volcano/gang/admission.ts";

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
  verdictsOf({ queues, groups, priorities: new Map(Object.entries(classes)) }).map((verdict) => [
    verdict.group.metadata.name,
    verdict.enters ? "" : verdict.why,
  ]);

const full = "queue q has too little cpu left";

const rows: readonly (readonly [
  string,
  readonly Stored[],
  readonly Stored[],
  readonly (readonly [string, string])[],
])[] = [
  [
    "an open queue without bounds takes everybody",
    [queue("q")],
    [group("a"), group("b")],
    [
      ["a", ""],
      ["b", ""],
    ],
  ],
  ["a queue that nobody has made takes nobody", [], [group("a")], [["a", "queue q is not found"]]],
  ["a closed queue takes nobody", [queue("q", {}, "Closed")], [group("a")], [["a", "queue q is Closed"]]],
  ["nor does one that is being closed", [queue("q", {}, "Closing")], [group("a")], [["a", "queue q is Closing"]]],
  ["a queue that says nothing of itself is open", [queue("q", {}, "")], [group("a")], [["a", ""]]],
  [
    "who is in counts, who is done does not",
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
    "those that run, and those of which a part was lost, are in",
    [queue("q", { capability: { cpu: "2" } })],
    [group("r", {}, { phase: "Running" }), group("u", {}, { phase: "Unknown" }), group("a")],
    [["a", full]],
  ],
  [
    "only what has a bound is bounded, exactly",
    [queue("q", { capability: { cpu: "1500m" } })],
    [group("a", { minResources: { cpu: "1.5", memory: "64Gi" } }), group("b", { minResources: { memory: "64Gi" } })],
    [
      ["a", ""],
      ["b", ""],
    ],
  ],
  [
    "who asks for nothing always enters",
    [queue("q", { capability: { cpu: "0" } })],
    [group("a", { minResources: undefined })],
    [["a", ""]],
  ],
  [
    "the smaller passes the one for which there is no room",
    [queue("q", { capability: { cpu: "1" } })],
    [group("big", { minResources: { cpu: "2" } }, { age: 9 }), group("small")],
    [
      ["big", full],
      ["small", ""],
    ],
  ],
  [
    "but not in a queue that is first in, first out",
    [queue("q", { capability: { cpu: "1" }, dequeueStrategy: "fifo" })],
    [group("big", { minResources: { cpu: "2" } }, { age: 9 }), group("small")],
    [
      ["big", full],
      ["small", "others come before it in queue q"],
    ],
  ],
  [
    "queues share what the one above them may hold, the more important first",
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
    "queues that stand above each other are gone through once",
    [queue("q", { parent: "p", capability: { cpu: "1" } }), queue("p", { parent: "q" })],
    [group("a"), group("b")],
    [
      ["a", ""],
      ["b", full],
    ],
  ],
  [
    "a group that names no queue stands in default",
    [queue("default", {}, "Closed")],
    [group("a", { queue: "" })],
    [["a", "queue default is Closed"]],
  ],
];

describe("groups of pods", () => {
  for (const [what, queues, groups, wanted] of rows)
    test(what, () => assert.deepEqual(verdicts(queues, groups), wanted));

  test("come in by the priority of their class, then by age", () => {
    const groups = [group("young"), group("old", {}, { age: 60 }), group("high", { priorityClassName: "high" })];
    assert.deepEqual(
      verdicts([queue("q")], groups, { high: 10 }).map(([name]) => name),
      ["high", "old", "young"],
    );
  });

  test("that are on their way out are not let in", () => {
    const leaving = group("a");
    const metadata = { ...leaving.metadata, deletionTimestamp: timeText(eight) };
    assert.deepEqual(verdicts([queue("q")], [{ ...leaving, metadata }]), []);
  });
});
