/** Admission with `gang: builtin`: the groups that enter, and the room that others hold. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { admissionOf } from "../../../../shared/volcano/gang/admission.ts";
import { openGround, openShares } from "../../../../shared/volcano/gang/ground.ts";
import {
  eight,
  type Fields,
  type Given,
  groupOf,
  job,
  lacking,
  node,
  pinnedTo,
  planOf,
  podOf,
  queue,
  type Task,
  taken,
  three,
  verdicts,
} from "./round.ts";

const full = "needs 3 × 1 cpu; 1 place on 1 of 1 node";
const older = groupOf("a", { age: 9 });

const rows: readonly (readonly [string, Given, Fields])[] = [
  [
    "of two groups for one place the older enters",
    { jobs: [job("a", three), job("b", three)], groups: [groupOf("b"), older] },
    { a: "", b: full },
  ],
  [
    "of two groups for one place the one of the higher priority enters",
    {
      jobs: [job("a", three), job("b", three)],
      groups: [older, groupOf("b", { priorityClassName: "high" })],
      priorities: { high: 10 },
    },
    { a: full, b: "" },
  ],
  [
    "an admitted group without pods holds its room",
    { jobs: [job("a", three), job("b", three)], groups: [groupOf("a", { phase: "Inqueue" }), groupOf("b")] },
    { b: full },
  ],
  [
    "pods of an admitted group with a node are counted once, and pods of other groups count",
    {
      jobs: [job("a", three), job("b", { cpu: 1, replicas: 1 }), job("c", { cpu: 1, replicas: 1 })],
      pods: [podOf("a-0", "a"), podOf("a-1", "a")],
      groups: [groupOf("a", { phase: "Inqueue" }), groupOf("b", { age: 1 }), groupOf("c")],
    },
    { b: "", c: "needs 1 × 1 cpu; 0 places on 1 node" },
  ],
  [
    "pods beyond the minimum hold no room: they come when the minimum has its places",
    {
      jobs: [job("a", { cpu: 1, replicas: 4, least: 1 }), job("b", { cpu: 1, replicas: 1 })],
      groups: [older, groupOf("b")],
    },
    { a: "", b: "" },
  ],
  [
    "other pods hold room until they have ended, also during deletion, and by nomination",
    {
      jobs: [job("a", three)],
      pods: [
        podOf("x", "", { metadata: { deletionTimestamp: timeText(eight) } }),
        podOf("y", "", { on: "", phase: "Pending", nominated: "n" }),
        podOf("z", "", { phase: "Succeeded" }),
      ],
      groups: [older],
    },
    { a: "needs 3 × 1 cpu; 2 places on 1 of 1 node" },
  ],
  [
    "the reason of a group that would not fit the empty cluster says so",
    { jobs: [job("a", { cpu: 5, replicas: 1 })], pods: [podOf("x", "")], groups: [older] },
    { a: "would not fit the empty cluster: needs 1 × 5 cpu; 0 places on 1 node" },
  ],
  [
    "a group without a Job enters by its queue alone",
    { jobs: [], groups: [groupOf("a", { owned: false })] },
    { a: "" },
  ],
  [
    "a plan holds its places on their nodes, except those that its pods have",
    {
      nodes: [node("m", 3), node("n", 3)],
      jobs: [job("a", { cpu: 1, replicas: 5 }), job("b", { cpu: 1, replicas: 2 })],
      pods: [podOf("a-0", "a", { on: "m" })],
      groups: [groupOf("a", { phase: "Inqueue", annotations: planOf({ w: { m: 3, n: 2 } }) }), groupOf("b")],
    },
    { b: "needs 2 × 1 cpu; 1 place on 1 of 2 nodes" },
  ],
  [
    "a pod that is pinned to a node holds its place before it is bound",
    {
      jobs: [job("b", { cpu: 1, replicas: 4 })],
      pods: [pinnedTo("n", podOf("a-0", "a", { on: "", phase: "Pending" }))],
      groups: [groupOf("b")],
    },
    { b: "needs 4 × 1 cpu; 3 places on 1 of 1 node" },
  ],
  [
    "a group that was taken back waits 30 s, then twice as long each time",
    {
      jobs: ["a", "b", "c"].map((name) => job(name, { cpu: 1, replicas: 1 })),
      groups: [
        groupOf("a", { age: 3, annotations: taken(29, 1, []) }),
        groupOf("b", { age: 2, annotations: taken(30, 1, []) }),
        groupOf("c", { age: 1, annotations: taken(59, 2, []) }),
      ],
    },
    { a: "it is tried again after 2026-11-02T08:00:01Z", b: "", c: "it is tried again after 2026-11-02T08:00:01Z" },
  ],
  [
    "a group that was taken back is planned without the nodes that refused its pods",
    {
      nodes: [node("m", 4), node("n", 3)],
      jobs: [job("a", three)],
      groups: [groupOf("a", { annotations: taken(30, 1, ["n"]) })],
    },
    { a: "3 on m" },
  ],
  [
    "a group that was taken back is planned on the nodes that refused its pods if there are no others",
    {
      nodes: [node("m", 3)],
      jobs: [job("a", three)],
      groups: [groupOf("a", { annotations: taken(30, 1, ["m"]) })],
    },
    { a: "3 on m" },
  ],
  [
    "a group that was taken back waits until its earlier pods have ended",
    {
      nodes: [node("m", 4), node("n", 4)],
      jobs: [job("a", three)],
      pods: [podOf("a-0", "a", { on: "m" })],
      groups: [groupOf("a", { annotations: taken(30, 1, []) })],
    },
    { a: "its earlier pods have not ended yet" },
  ],
  [
    "the oldest group that has lacked only room for 10 minutes holds the nodes that it would use",
    {
      nodes: [node("m", 4), node("n", 2)],
      pods: [podOf("x", "", { on: "m" })],
      jobs: [job("big", { cpu: 4, replicas: 1 }), job("b", { cpu: 1, replicas: 1 }), job("c", { cpu: 3, replicas: 1 })],
      groups: [
        groupOf("big", { age: 700, annotations: lacking(600) }),
        groupOf("b", { age: 20 }),
        groupOf("c", { age: 10 }),
      ],
    },
    {
      big: "needs 1 × 4 cpu; 0 places on 2 nodes",
      b: "",
      c: "needs 1 × 3 cpu; 0 places on 2 nodes; 1 node is held for group ns/big, which has waited for room for 10 minutes",
    },
  ],
  [
    "a group that has lacked room for less than 10 minutes holds no nodes",
    {
      nodes: [node("m", 4)],
      pods: [podOf("x", "", { on: "m" })],
      jobs: [job("big", { cpu: 4, replicas: 1 }), job("c", { cpu: 3, replicas: 1 })],
      groups: [groupOf("big", { age: 700, annotations: lacking(599) }), groupOf("c", { age: 10 })],
    },
    { big: "needs 1 × 4 cpu; 0 places on 1 node", c: "1 on m" },
  ],
  [
    "a group that would not fit if everything but DaemonSets ended holds no nodes",
    {
      nodes: [node("m", 4)],
      pods: [
        podOf("x", "", {
          on: "m",
          metadata: {
            ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "d", uid: "d", controller: true }],
          },
        }),
      ],
      jobs: [job("big", { cpu: 4, replicas: 1 }), job("c", { cpu: 3, replicas: 1 })],
      groups: [groupOf("big", { age: 700, annotations: lacking(600) }), groupOf("c", { age: 10 })],
    },
    { big: "needs 1 × 4 cpu; 0 places on 1 node", c: "1 on m" },
  ],
  ["a group whose Job is not found waits", { jobs: [], groups: [older] }, { a: "its Job is not found" }],
];

describe("in an admission round with gang: builtin", () => {
  for (const [what, given, expected] of rows) test(what, () => assert.deepEqual(verdicts(given), expected));
});

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

const nodesOf = (count: number): readonly Stored[] => range(count).map((at) => node(`n${at}`, 64));

const groupIn = (namespace: string, name: string, more: Parameters<typeof groupOf>[1] = {}): Stored => {
  const group = groupOf(name, more);
  return { ...group, metadata: { ...group.metadata, namespace } };
};

/** Groups of one tenant, each with a Job of its own; all are older than the group of another tenant. */
const crowdOf = (count: number, task: (at: number) => Task, phase = "") => ({
  jobs: [...range(count).map((at) => job(`g${at}`, task(at))), job("other", { cpu: 1, replicas: 1 })],
  groups: [
    ...range(count).map((at) => groupIn("mallory", `g${at}`, { age: 100, phase })),
    groupIn("default", "other", { age: 1 }),
  ],
});

const roundOf = ({ jobs, groups }: ReturnType<typeof crowdOf>, nodes: readonly Stored[], most: number) => {
  const turns = openShares(most);
  const ground = openGround({ nodes, pods: [], jobs, priorities: new Map(), groups, now: eight }, turns);
  const found = admissionOf({ queues: [queue], groups, priorities: new Map(), ground }).verdicts;
  const entered = found.filter(({ enters }) => enters).map(({ group: { metadata } }) => metadata.name);
  return { entered, looks: turns.work.looks, wasShort: ground.wasShort(), found };
};

describe("the work of a round with gang: builtin is bounded", () => {
  const hundred = nodesOf(100);
  const most = 20_000;

  test("for one tenant's many groups that fit, and another tenant's group enters", () => {
    const { entered, looks, wasShort } = roundOf(
      crowdOf(400, () => ({ cpu: 0.1, replicas: 1 })),
      hundred,
      most,
    );
    assert.ok(entered.includes("other"));
    assert.ok(entered.length > 10 && entered.length < 100, `${entered.length} entered`);
    assert.ok(looks < most, `${looks} looks`);
    assert.ok(wasShort);
  });

  test("for one tenant's many groups that do not fit, and another tenant's group enters", () => {
    const { entered, looks } = roundOf(
      crowdOf(400, (at) => ({ cpu: 100 + at, replicas: 1 })),
      hundred,
      most,
    );
    assert.deepEqual(entered, ["other"]);
    assert.ok(looks < most, `${looks} looks`);
  });

  test("for one tenant's many admitted groups without pods, and another tenant's group enters", () => {
    const { entered, looks } = roundOf(
      crowdOf(400, () => ({ cpu: 0.1, replicas: 1 }), "Inqueue"),
      hundred,
      most,
    );
    assert.deepEqual(entered, ["other"]);
    assert.ok(looks < most, `${looks} looks`);
  });

  test("for a group whose tasks, nodes and constraints multiply: it is refused with a reason", () => {
    const values = range(500).map((at) => `value-${at}`);
    const matchExpressions = range(50).map((at) => ({ key: `k${at}`, operator: "NotIn", values }));
    const required = { nodeSelectorTerms: [{ matchExpressions }] };
    const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
    const { found, looks } = roundOf(
      crowdOf(1, () => ({ ...three, more: { affinity } })),
      hundred,
      1_000_000,
    );
    const [first] = found;
    assert.match(
      first?.enters === false ? first.why : "",
      /^its tasks and their constraints take too long to plan on 100 nodes: write fewer tasks/,
    );
    assert.ok(looks < 200_000, `${looks} looks`);
  });
});
