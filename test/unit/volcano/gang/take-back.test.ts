/** Plans whose pods are late: the instant, the nodes that refused, the next try; and plans whose writes are on their way. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../shared/core/object.ts";
import { timeText } from "../../../../shared/core/time.ts";
import {
  type GangPlan,
  isOfTakenBack,
  nodesOf,
  planOf,
  planText,
  retryAt,
  takenBackOf,
  takenBackText,
} from "../../../../shared/kube/gang-plan.ts";
import { inFlightOf, unsettledUntil } from "../../../../shared/volcano/gang/admission-round.ts";
import { deadlineOf, refusedOf } from "../../../../shared/volcano/gang/plan.ts";
import { groupOf, job, node, verdicts } from "./round.ts";

type Fields = Readonly<Record<string, unknown>>;

const eight = Date.UTC(2026, 10, 2, 8);

const plan: GangPlan = { since: eight, places: { w: { m: 1, n: 2 } } };

const pod = (name: string, task: string, node = "", metadata: Fields = {}, phase = "Pending"): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    ...{ name, namespace: "ns", uid: name, resourceVersion: "1", creationTimestamp: timeText(eight + 1_000) },
    annotations: { "volcano.sh/task-spec": task },
    ...metadata,
  },
  spec: node === "" ? {} : { nodeName: node },
  status: { phase },
});

const group = (annotations: Readonly<Record<string, string>>, phase = "Pending", resourceVersion = "7"): Stored => ({
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "PodGroup",
  metadata: { name: "g", namespace: "ns", uid: "g", resourceVersion, annotations },
  status: { phase },
});

const tasks = (dependsOn?: Fields) => ({ tasks: [{ name: "w", replicas: 3, ...(dependsOn && { dependsOn }) }] });

describe("a plan in its annotation", () => {
  test("is parsed as it was written, with the nodes of each task in the order of their names", () => {
    const places = [
      { task: "w", node: "n", count: 1 },
      { task: "w", node: "m", count: 1 },
      { task: "w", node: "n", count: 1 },
    ];
    const read = planOf(group({ "rekindle.dev/plan": planText(places, eight) }));
    assert.deepEqual(read, plan);
    assert.deepEqual(nodesOf(plan, "w"), ["m", "n", "n"]);
    assert.deepEqual(nodesOf(plan, "toString"), []);
  });

  const wrong = [
    "",
    "{}",
    "[1]",
    '{"since":"x","places":{}}',
    '{"since":"2026-11-02T08:00:00Z","places":{"w":{"n":-1}}}',
  ];
  const many = '{"since":"2026-11-02T08:00:00Z","places":{"w":{"m":99999,"n":99999}}}';
  for (const text of [...wrong, many])
    test(`is ignored if its text is ${text.slice(0, 60)}`, () =>
      assert.equal(planOf(group({ "rekindle.dev/plan": text })), undefined));
});

describe("a plan is due", () => {
  const created = (name: string, seconds: number, node = ""): Stored =>
    pod(name, "w", node, { creationTimestamp: timeText(eight + seconds * 1_000) });

  /** The pods, and when the plan is due, in seconds after the admission. */
  const rows: readonly (readonly [string, readonly Stored[], number])[] = [
    ["120 s after the admission without a pod", [], 120],
    ["60 s after its newest pod was created, while one lacks a node", [created("0", 1, "m"), created("1", 50)], 110],
    ["60 s after its newest pod was created, while one does not exist", [created("0", 1), created("1", 50, "m")], 110],
    ["60 s after the admission, if its pods seem older", [created("0", -90), created("1", -90, "m")], 60],
    ["180 s after the admission, if its pods are created again and again", [created("0", 1), created("1", 500)], 180],
  ];
  for (const [when, pods, seconds] of rows)
    test(when, () => assert.equal(deadlineOf(plan, tasks(), pods), eight + seconds * 1_000));

  test("without regard to pods of tasks that depend on others, unless these lack nodes", () => {
    const two: GangPlan = { since: eight, places: { w: { m: 1 }, later: { n: 1 } } };
    const {
      tasks: [first = { name: "w", replicas: 1 }],
    } = tasks();
    const spec = { tasks: [first, { name: "later", replicas: 1, dependsOn: { name: ["w"] } }] };
    const after = pod("2", "later", "", { creationTimestamp: timeText(eight + 90_000) });
    assert.equal(deadlineOf(two, spec, [created("0", 1), after]), eight + 61_000);
    assert.equal(deadlineOf(two, spec, [created("0", 1, "m"), after]), eight + 150_000);
  });

  test("never, once each of its pods has or had a node", () => {
    const pods = [pod("0", "w", "m"), pod("1", "w", "n"), pod("2", "w", "", {}, "Succeeded")];
    assert.equal(deadlineOf(plan, tasks(), pods), undefined);
  });

  test("for a task that depends on others 60 s after the newest of its pods came", () => {
    const depends = tasks({ name: ["other"] });
    assert.equal(deadlineOf(plan, depends, []), undefined);
    const late = { creationTimestamp: timeText(eight + 500_000) };
    assert.equal(deadlineOf(plan, depends, [pod("0", "w"), pod("1", "w", "", late)]), eight + 560_000);
  });
});

describe("a group that is taken back", () => {
  test("gets a message with the nodes, the number of refused pods, and the pods that took their places", () => {
    const thief = pod("thief", "", "n", { creationTimestamp: timeText(eight + 2_000) });
    const older = pod("older", "", "n", { creationTimestamp: timeText(eight - 2_000) });
    const refused = refusedOf(plan, [pod("0", "w", "m"), pod("1", "w", "n"), pod("2", "w")], [thief, older]);
    assert.deepEqual(refused, {
      nodes: ["n"],
      message: "1 of 3 pods did not get their places within 60 s: n, taken by pod ns/thief",
    });
  });

  test("gets a message that its pods do not exist, and remembers no node, if none was created", () =>
    assert.deepEqual(refusedOf(plan, [], []), {
      nodes: [],
      message: "none of its 3 pods was created within 120 s; the events of its owner tell why",
    }));

  test("stays admitted if no pod is missing when its finished pods are read", () => {
    const pods = ["0", "1", "2"].map((name) => pod(name, "w", "n", {}, "Succeeded"));
    assert.equal(refusedOf(plan, pods, []), undefined);
  });

  test("is tried again after 30 s, doubling up to 10 minutes", () => {
    const waits = [1, 2, 3, 5, 6, 60].map((times) => retryAt({ at: 0, times, nodes: [] }) / 1_000);
    assert.deepEqual(waits, [30, 60, 120, 480, 600, 600]);
  });

  test("loses the pods of the plan that was taken back, and none of the next plan", () => {
    const text = takenBackText({ at: eight, times: 1, nodes: ["n"] });
    const back = takenBackOf(group({ "rekindle.dev/taken-back": text }));
    assert.ok(back !== undefined);
    const made = (ms: number): Stored => pod("p", "w", "", { creationTimestamp: timeText(eight + ms) });
    assert.deepEqual([isOfTakenBack(back, made(15_000)), isOfTakenBack(back, made(30_000))], [true, false]);
  });
});

describe("a plan whose pods were larger than it", () => {
  const larger = (name: string): Stored => ({
    ...pod(name, "w", ""),
    spec: { containers: [{ resources: { requests: { cpu: "3", memory: "1Gi" } } }] },
  });

  test("is taken back with the sizes of its pods", () => {
    const refused = refusedOf({ since: eight, places: { w: { n: 3 } } }, [larger("w-0"), larger("w-1")], []);
    assert.deepEqual(refused?.sizes, { w: { cpu: "3", memory: "1Gi" } });
  });

  test("is not repeated: the next plan counts these sizes", () => {
    const back = takenBackText({ at: eight - 600_000, times: 1, nodes: [], sizes: { w: { cpu: "3" } } });
    const three = { cpu: 1, replicas: 3 };
    const given = {
      nodes: ["n1", "n2", "n3"].map((name) => node(name, 4)),
      jobs: [job("j", three)],
      groups: [groupOf("j", { annotations: { "rekindle.dev/taken-back": back } })],
    };
    assert.deepEqual(verdicts(given), { j: "1 on n1, 1 on n2, 1 on n3" });
  });
});

describe("a round whose writes are in flight", () => {
  const planning = inFlightOf([group({})], eight);

  const rows: readonly (readonly [string, readonly Stored[], number, number | undefined])[] = [
    ["delays the next round while a write may still arrive", [group({})], 15_000, eight + 16_000],
    ["is over when the fence and the request timeout have passed", [group({})], 16_000, undefined],
    ["is over when the group is admitted", [group({}, "Inqueue", "8")], 1_000, undefined],
    [
      "delays the next round while room may still be given to an admitted group",
      [group({}, "Running")],
      1_000,
      eight + 16_000,
    ],
    [
      "is over when the write cannot arrive, because the group has changed",
      [group({}, "Pending", "8")],
      1_000,
      undefined,
    ],
    ["is over when the group is gone", [], 1_000, undefined],
  ];
  for (const [what, groups, ms, wanted] of rows)
    test(what, () => assert.equal(unsettledUntil(planning, groups, eight + ms), wanted));
});
