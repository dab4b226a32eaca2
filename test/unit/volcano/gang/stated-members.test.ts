/** Groups without a Job that state their members: their plans, and when these end. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { timeText } from "../../../../shared/core/time.ts";
import { type GangMembers, memberKeys, membersKey, membersOf } from "../../../../shared/kube/gang-members.ts";
import type { GangPlan } from "../../../../shared/kube/gang-plan.ts";
import { demandOf, groupOutline } from "../../../../shared/volcano/gang/outlines.ts";
import { isForfeit, statedDeadline } from "../../../../shared/volcano/gang/plan.ts";
import { keys } from "../../../../shared/volcano/schema/resource.ts";
import { eight, type Fields, groupOf, node, verdicts } from "./round.ts";

const spec = (cpu: string, more: Fields = {}): Fields => ({
  containers: [{ name: "main", resources: { requests: { cpu } } }],
  ...more,
});

const stating = (members: readonly Fields[], more: Fields = {}): Readonly<Record<string, string>> => ({
  [membersKey]: JSON.stringify({ members, ...more }),
});

const driver = { task: "driver", count: 1, spec: spec("1") };
const executors = { task: "executor", count: 2, spec: spec("2"), after: "driver" };

const saying = (annotations: Readonly<Record<string, string>>, nodes: readonly Stored[]): unknown =>
  verdicts({ nodes, jobs: [], groups: [groupOf("g", { owned: false, annotations })] })["g"];

test("pods name their group and their task by the annotations of Volcano's pods", () => {
  assert.deepEqual([memberKeys.group, memberKeys.task], [keys.group, keys.taskSpec]);
});

describe("a group that states its members", () => {
  test("is admitted with a place for each of them", () => {
    assert.equal(saying(stating([driver, executors]), [node("m", 2), node("n", 4)]), "1 on m, 2 on n");
  });

  test("waits whole while one of them has no place", () => {
    assert.match(
      String(saying(stating([driver, executors]), [node("m", 1), node("n", 3)])),
      /task executor needs 2 × 2 cpu; 1 place on 1 of 2 nodes/,
    );
  });

  test("waits with a text if a plan cannot cover a member", () => {
    const constraints = [{ whenUnsatisfiable: "DoNotSchedule", maxSkew: 1, topologyKey: "zone" }];
    const spread = { ...executors, spec: spec("1", { topologySpreadConstraints: constraints }) };
    assert.match(
      String(saying(stating([driver, spread]), [node("n", 9)])),
      /task executor has a topology spread constraint with DoNotSchedule, which `gang: builtin` cannot plan/,
    );
  });

  for (const text of [
    "",
    "{}",
    '{"members":[]}',
    '{"members":[{"task":"a","count":100001,"spec":{}}]}',
    "x".repeat(40_000),
  ])
    test(`waits, and never enters without a plan, if they cannot be read: ${text.slice(0, 50)}`, () => {
      assert.equal(membersOf(groupOf("g", { owned: false, annotations: { [membersKey]: text } })), undefined);
      const outlined = groupOutline(new Set())(groupOf("g", { owned: false, annotations: { [membersKey]: text } }));
      assert.ok(outlined !== undefined);
      const demand = demandOf(outlined, { byUid: new Map(), priorities: new Map(), work: { looks: 0 } });
      assert.deepEqual(demand, {
        is: "refused",
        why: "its annotation rekindle.dev/members cannot be read, or is too long for one round",
      });
    });
});

const plan: GangPlan = { since: eight, places: { driver: { m: 1 }, executor: { n: 2 } } };

const members = (required: boolean): GangMembers => ({
  members: [
    { ...driver, labels: {} },
    { ...executors, labels: {} },
  ],
  required,
});

const pod = (task: string, { on = "", phase = "Pending", boundAt = 0, upAt = -1, createdAt = 0 } = {}): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    ...{ name: task, namespace: "ns", uid: `${task} ${on}`, resourceVersion: "1" },
    creationTimestamp: timeText(eight + createdAt),
    annotations: { [memberKeys.task]: task },
  },
  spec: on === "" ? {} : { nodeName: on },
  status: {
    phase,
    conditions: [
      { type: "PodScheduled", status: "True", lastTransitionTime: timeText(eight + boundAt) },
      ...(upAt < 0 ? [] : [{ type: "Ready", status: "True", lastTransitionTime: timeText(eight + upAt) }]),
    ],
  },
});

const up = pod("driver", { on: "m", phase: "Running", boundAt: 5_000, upAt: 20_000 });
const one = pod("executor", { on: "n", phase: "Running" });
const done = pod("executor", { on: "n", phase: "Succeeded" });

/** The pods, the end of the plan in seconds after it was made, and whether the group is taken back then. */
const rows: readonly (readonly [string, readonly Stored[], number, boolean, boolean])[] = [
  ["120 s after the admission without a driver", [], 120, true, true],
  ["60 s after the driver was created, while it has no node", [pod("driver", { createdAt: 30_000 })], 90, true, true],
  [
    "60 s after the driver was created, whatever executors there are",
    [pod("driver"), pod("executor", { createdAt: 30_000 })],
    60,
    true,
    true,
  ],
  ["120 s after the driver was up while executors are missing", [up, one], 140, false, true],
  [
    "600 s after the driver got its node, which does not start",
    [pod("driver", { on: "m", boundAt: 5_000 })],
    605,
    false,
    true,
  ],
  ["at once when each member has or had a node", [up, one, done], 0, false, false],
];

describe("the plan of a group that states its members ends", () => {
  for (const [what, pods, seconds, forfeit, forfeitIfRequired] of rows)
    test(what, () => {
      const stated = { plan, members: members(false), pods };
      assert.equal(statedDeadline(stated), eight + seconds * 1_000);
      assert.equal(isForfeit(stated), forfeit);
      assert.equal(isForfeit({ ...stated, members: members(true) }), forfeitIfRequired);
    });
});
