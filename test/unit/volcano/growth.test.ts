/**
 * The cost of one job or one record: pods of many tasks are created in parts that share equal fields, and no text makes
 * more ordinals than a job has pods.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { wholeOf } from "../../../shared/core/plan.ts";
import { requestsOf } from "../../../shared/kube/pod-usage.ts";
import { admissionOf } from "../../../shared/volcano/gang/admission.ts";
import { areSets, ordinalsIn, ordinalsText } from "../../../shared/volcano/job/memory.ts";
import { minResources } from "../../../shared/volcano/podgroup/group.ts";
import { assertLinear } from "../../support/growth.ts";
import { creating, said } from "./admission/reviews.ts";
import { container } from "./input/row.ts";
import { type JobFixture, openJob, task } from "./job/fixtures.ts";

type Fields = Readonly<Record<string, unknown>>;

const tasks = (count: number): readonly Fields[] => Array.from({ length: count }, (_, at) => task(`t${at}`, 1));

/** Returns a job whose PodGroup has just become Inqueue. */
const admitted = (spec: Fields): JobFixture => {
  const fixture = openJob(spec).run();
  fixture.admit();
  return fixture;
};

const podsIn = ({ stages }: ReturnType<JobFixture["step"]>): readonly Obj[] =>
  stages.flat().flatMap((effect) => (effect.do === "create" && effect.object.kind === "Pod" ? [wholeOf(effect)] : []));

const variablesOf = (pod: Obj | undefined): readonly unknown[] => Object(pod?.["spec"]).containers?.[0]?.env ?? [];

describe("a job of a thousand tasks with the plugin svc", () => {
  const plugins = { svc: [] };
  let plan: ReturnType<JobFixture["step"]>;
  before(() => {
    plan = admitted({ tasks: tasks(1_000), plugins }).step(true);
  });

  test("creates its pods in parts of at most 9 MB", () => {
    const fixture = admitted({ tasks: tasks(1_000), plugins });
    const parts: number[] = [];
    while (fixture.names("pods").length < 200) {
      const before = fixture.names("pods").length;
      const plan = fixture.step(true);
      const sizes = plan.stages
        .flat()
        .map((effect) => (effect.do === "create" ? JSON.stringify(wholeOf(effect)).length : 0));
      parts.push(sizes.reduce((sum, size) => sum + size, 0));
      fixture.step();
      assert.ok(fixture.names("pods").length > before);
    }
    assert.ok(Math.max(...parts) < 9_000_000, parts.join());
  });

  test("has a plan without the bodies of its pods, with at most 600 characters for each pod", () => {
    const created = plan.stages.flat().filter((effect) => effect.do === "create");
    assert.ok(created.length > 10);
    assert.ok(JSON.stringify(plan.stages).length < 600 * created.length);
    assert.ok(created.every((effect) => !("spec" in effect.object) && "spec" in wholeOf(effect)));
  });

  test("has a plan with the body of its first pod alone, if that body is short", () => {
    const { stages } = admitted({ tasks: tasks(3) }).step(true);
    const created = stages.flat().filter((effect) => effect.do === "create");
    assert.deepEqual(
      created.map((effect) => ["spec" in effect.object, effect.body === undefined]),
      [
        [true, true],
        [false, false],
        [false, false],
      ],
    );
    assert.deepEqual(
      created.map((effect) => wholeOf(effect).metadata.name),
      ["j-t0-0", "j-t1-0", "j-t2-0"],
    );
  });

  test("shares the variables of all tasks between its pods", () => {
    const [first, second] = podsIn(plan);
    assert.equal(variablesOf(first).length, 2_000);
    assert.ok(variablesOf(first).every((one, at) => one === variablesOf(second)[at]));
  });

  test("creates all its pods in the end", () => {
    const fixture = admitted({ tasks: tasks(120), plugins });
    fixture.run();
    assert.equal(fixture.names("pods").length, 120);
  });
});

describe("the work for a job grows linearly with its text", () => {
  const rows: readonly (readonly [why: string, n: number, spec: (n: number) => Fields])[] = [
    ["tasks", 100, (n) => ({ tasks: tasks(n), plugins: { svc: [] } })],
    ["variables of one container", 1_000, (n) => ({ tasks: [task("a", 1, { template: templateOf(n) })] })],
  ];
  const templateOf = (n: number): Fields => ({
    spec: { restartPolicy: "Never", containers: [{ ...container, env: Array.from({ length: n }, variable) }] },
  });
  const variable = (_: unknown, at: number): Fields => ({ name: `A${at}`, value: "x" });
  for (const [why, n, spec] of rows) {
    test(`${why}: in admission`, () => assertLinear(n, spec, (given) => said(creating("Job", given))));
    test(`${why}: in a step`, () => assertLinear(n, spec, (given) => openJob(given).step()));
  }
});

describe("ordinals of a record", () => {
  test("are parsed as they were written", () => {
    const all = Array.from({ length: 20_000 }, (_, at) => at * 2);
    assert.deepEqual([...(ordinalsIn(ordinalsText(all)) ?? [])], all);
  });

  for (const text of ["0-999999", Array.from({ length: 36 }, () => "0-99999").join(), "0-99999999999999999999"])
    test(`are rejected if they are more than a job may have: ${text.slice(0, 30)}`, () => {
      assert.equal(ordinalsIn(text), undefined);
    });

  test("are counted over all tasks together", () => {
    assert.ok(areSets(["0-49999", "0-49999"]));
    assert.ok(!areSets(["0-49999", "0-50000"]));
    assert.ok(!areSets(["0-1", "x"]));
  });
});

describe("the work for unknown resources grows linearly with their text", () => {
  const names = (at: number, count: number): Fields =>
    Object.fromEntries(Array.from({ length: count }, (_, nth) => [`example.com/r${at}-${nth}`, "1"]));
  const each = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

  test("of one pod's containers and init containers", () => {
    const containersOf = (n: number): readonly Fields[] =>
      each(n).map((at) => ({ restartPolicy: "Always", resources: { requests: names(at, 20) } }));
    for (const list of ["containers", "initContainers"])
      assertLinear(
        40,
        (n) => ({ [list]: containersOf(n) }),
        (spec) => requestsOf(spec),
      );
  });

  test("of a job's tasks", () => {
    const taskOf = (at: number) => ({
      ...{ name: `t${at}`, replicas: 1 },
      template: { spec: { containers: [{ resources: { requests: names(at, 20) } }] } },
    });
    assertLinear(
      40,
      (n) => each(n).map((at) => ({ task: taskOf(at), priority: 0 })),
      (tasks) => minResources(tasks, tasks.length),
    );
  });

  test("of the PodGroups in an admission round", () => {
    const queue = {
      ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue" },
      metadata: { name: "q", uid: "q", resourceVersion: "1" },
      ...{ spec: { capability: { cpu: "1000" } }, status: { state: "Open" } },
    };
    const group = (at: number) => ({
      ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" },
      metadata: { name: `g${at}`, namespace: "ns", uid: `g${at}`, resourceVersion: "1" },
      spec: { queue: "q", minResources: { ...names(at, 200), cpu: "1" } },
    });
    assertLinear(
      40,
      (n) => each(n).map(group),
      (groups) => {
        const verdicts = admissionOf({ queues: [queue], groups, priorities: new Map() }).verdicts;
        assert.ok(verdicts.every(({ enters }) => enters));
      },
    );
  });
});
