/** A change of only where executors may be placed, in a run whose executors Rekindle creates. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import { type Effect, wholeOf } from "../../../../../shared/core/plan.ts";
import { type Memory, relevant } from "../../../../../shared/spark/application/state/memory.ts";
import { newAllotment } from "../../../../../shared/spark/executors/allotment.ts";
import { application, decided, driver, pod, remembered, spec } from "../fixtures.ts";

const annotations = { "rekindle.dev/executors": "own" };
const status = {
  applicationState: { state: "RUNNING" },
  submissionID: "submission-1",
  driverInfo: { podName: "spark-pi-driver", webUIServiceName: "ui" },
};

const app = (instances: number, more: { generation?: number; spec?: object } = {}): Stored =>
  application({
    metadata: { annotations, generation: more.generation ?? 1 },
    spec: { ...spec, executor: { instances, cores: 1, memory: "512m" }, ...more.spec },
    status,
  });

const known = { next: 1004, alive: "1001-1003" };

const memory = (more: Partial<NonNullable<Memory["allotment"]>>): Memory =>
  remembered({
    driver,
    allotment: { ...newAllotment(1, "spark-pi-1", undefined), listens: true, ...more },
    spec: relevant(app(3), true),
  });

const executor = (id: number, phase = "Running", exitCode?: number): Stored =>
  pod({
    ...{ role: "executor", owner: "driver-1", executor: id, phase, name: `spark-pi-1-exec-${id}`, uid: `u-${id}` },
    ...(exitCode === undefined ? {} : { exitCode, finishedAt: "2026-11-02T07:59:59Z" }),
  });

const three = [executor(1001), executor(1002), executor(1003)];

describe("a change of only where executors may be placed", () => {
  const moved = { nodeSelector: { pool: "spot" }, priorityClassName: "low", tolerations: [{ operator: "Exists" }] };
  const changed = (executor: object): Stored =>
    app(3, { generation: 2, spec: { executor: { instances: 3, cores: 1, memory: "512m", ...executor } } });
  const run = (own: "movable" | boolean): Memory => ({ ...memory(known), spec: relevant(app(3), own) });
  const pods = [pod(), ...three.slice(0, 2), executor(1003, "Failed", 1)];
  const movable = { partialRestart: true };

  test("begins no new run with the setting partial-restart, and the next executor has it", () => {
    const { plan } = decided({ object: changed(moved), memory: run("movable"), pods, options: movable });
    assert.equal(plan.memory.state.phase, "RUNNING");
    const made = plan.stages.flat().flatMap((effect) => (effect.do === "create" ? [wholeOf(effect)] : []));
    assert.match(JSON.stringify(made), /"nodeSelector":\{"pool":"spot"\}/);
    assert.match(JSON.stringify(made), /"priorityClassName":"low"/);
  });

  const placed = { ...known, placed: relevant(app(3), true) };
  const placedRun = (): Memory => ({ ...memory(placed), spec: relevant(app(3), "movable") });
  const news = (before: readonly Effect[]): readonly string[] =>
    before.flatMap((effect) =>
      effect.do === "record" && effect.reason === "SparkApplicationWebhookFieldsUpdated" ? [effect.occasion] : [],
    );

  test("is told by one event, before the save that takes it in", () => {
    const first = decided({ object: changed(moved), memory: placedRun(), pods, options: movable });
    assert.deepEqual(news(first.before), ["2"]);
    assert.equal(first.plan.memory.generation, 2);
    const again = decided({ object: changed(moved), memory: first.plan.memory, pods, options: movable });
    assert.deepEqual(news(again.before), []);
  });

  for (const [change, object] of [
    ["another number of executors", app(4, { generation: 2 })],
    ["a change that begins a new run", changed({ ...moved, memory: "1g" })],
  ] as const)
    test(`is not told of ${change}`, () => {
      assert.deepEqual(news(decided({ object, memory: placedRun(), pods, options: movable }).before), []);
    });

  test("is not told of a spec that a read shows again after a newer one", () => {
    const newer = { ...placedRun(), generation: 3 };
    assert.deepEqual(news(decided({ object: changed(moved), memory: newer, pods, options: movable }).before), []);
  });

  test("begins a new run without the setting", () => {
    const { plan } = decided({ object: changed(moved), memory: run(true), pods });
    assert.equal(plan.memory.state.phase, "INVALIDATING");
  });

  test("begins a new run if more changes", () => {
    const object = changed({ ...moved, memory: "1g" });
    const { plan } = decided({ object, memory: run("movable"), pods, options: movable });
    assert.equal(plan.memory.state.phase, "INVALIDATING");
  });

  test("leaves runs alone that began before the setting was turned on", () => {
    const before = { ...memory(known), spec: relevant(changed(moved), true) };
    const { plan } = decided({ object: changed(moved), memory: before, pods, options: movable });
    assert.equal(plan.memory.state.phase, "RUNNING");
  });

  test("begins a new run in assist", () => {
    const object = { ...changed(moved), metadata: { ...changed(moved).metadata, annotations: {} } };
    const { allotment: _, ...assisted } = run(false);
    const { plan } = decided({ object, memory: assisted, pods, options: movable });
    assert.equal(plan.memory.state.phase, "INVALIDATING");
  });
});
