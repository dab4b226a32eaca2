/**
 * The cost of one job or one record: pods of many tasks are created in parts that share equal fields, and no text makes
 * more ordinals than a job has pods.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obj } from "../../../shared/core/object.ts";
import { wholeOf } from "../../../shared/core/plan.ts";
import { areSets, ordinalsIn, ordinalsText } from "../../../shared/volcano/job/ordinals.ts";
import { assertLinear } from "../../support/growth.ts";
import { creating, said } from "./admission/reviews.ts";
import { container } from "./input/row.ts";
import { Loop, task } from "./job/loop.ts";

type Fields = Readonly<Record<string, unknown>>;

const tasks = (count: number): readonly Fields[] => Array.from({ length: count }, (_, at) => task(`t${at}`, 1));

/** Returns a job whose PodGroup has just become Inqueue. */
const admitted = (spec: Fields): Loop => {
  const loop = new Loop(spec).run();
  loop.admit();
  return loop;
};

const podsMade = (loop: Loop): readonly Obj[] =>
  loop
    .step()
    .stages.flat()
    .flatMap((effect) => (effect.do === "create" && effect.object.kind === "Pod" ? [wholeOf(effect)] : []));

const variablesOf = (pod: Obj | undefined): readonly unknown[] => Object(pod?.["spec"]).containers?.[0]?.env ?? [];

describe("a job of a thousand tasks with the plugin svc", () => {
  const plugins = { svc: [] };

  test("has its pods made in parts: none holds more than some mebibytes", () => {
    const loop = admitted({ tasks: tasks(1_000), plugins });
    const parts: number[] = [];
    while (loop.names("pods").length < 200) {
      const before = loop.names("pods").length;
      const plan = loop.step(true);
      const sizes = plan.stages
        .flat()
        .map((effect) => (effect.do === "create" ? JSON.stringify(wholeOf(effect)).length : 0));
      parts.push(sizes.reduce((sum, size) => sum + size, 0));
      loop.step();
      assert.ok(loop.names("pods").length > before);
    }
    assert.ok(Math.max(...parts) < 9_000_000, parts.join());
  });

  test("holds none of its pods' bodies in a plan, which has some hundred characters for each", () => {
    const plan = admitted({ tasks: tasks(1_000), plugins }).step(true);
    const created = plan.stages.flat().filter((effect) => effect.do === "create");
    assert.ok(created.length > 10);
    assert.ok(JSON.stringify(plan.stages).length < 600 * created.length);
    assert.ok(created.every((effect) => !("spec" in effect.object) && "spec" in wholeOf(effect)));
  });

  test("has the variables of all tasks once, not once for each pod", () => {
    const [first, second] = podsMade(admitted({ tasks: tasks(1_000), plugins }));
    assert.equal(variablesOf(first).length, 2_000);
    assert.ok(variablesOf(first).every((one, at) => one === variablesOf(second)[at]));
  });

  test("has all its pods in the end", () => {
    const loop = admitted({ tasks: tasks(120), plugins });
    loop.run();
    assert.equal(loop.names("pods").length, 120);
  });
});

describe("the work for a job grows with its text alone", () => {
  const rows: readonly (readonly [why: string, n: number, spec: (n: number) => Fields])[] = [
    ["tasks", 100, (n) => ({ tasks: tasks(n), plugins: { svc: [] } })],
    ["variables of one container", 1_000, (n) => ({ tasks: [task("a", 1, { template: templateOf(n) })] })],
  ];
  const templateOf = (n: number): Fields => ({
    spec: { restartPolicy: "Never", containers: [{ ...container, env: Array.from({ length: n }, variable) }] },
  });
  const variable = (_: unknown, at: number): Fields => ({ name: `A${at}`, value: "x" });
  for (const [why, n, spec] of rows) {
    test(`${why}: at the door`, () => assertLinear(n, spec, (given) => said(creating("Job", given))));
    test(`${why}: in reconcile`, () => assertLinear(n, spec, (given) => new Loop(given).step()));
  }
});

describe("ordinals of a record", () => {
  test("are read back as they were written", () => {
    const all = Array.from({ length: 20_000 }, (_, at) => at * 2);
    assert.deepEqual([...(ordinalsIn(ordinalsText(all)) ?? [])], all);
  });

  for (const text of ["0-999999", Array.from({ length: 36 }, () => "0-99999").join(), "0-99999999999999999999"])
    test(`are none where they are more than a job may have: ${text.slice(0, 30)}`, () => {
      assert.equal(ordinalsIn(text), undefined);
    });

  test("count together, whatever task they are of", () => {
    assert.ok(areSets(["0-49999", "0-49999"]));
    assert.ok(!areSets(["0-49999", "0-50000"]));
    assert.ok(!areSets(["0-1", "x"]));
  });
});
