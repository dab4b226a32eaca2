/** Lost executors: the step replaces them, and the next step reports the losses. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../../../shared/core/object.ts";
import type { Effect } from "../../../../../shared/core/plan.ts";
import { relevant } from "../../../../../shared/spark/application/state/memory.ts";
import { newAllotment } from "../../../../../shared/spark/executors/allotment.ts";
import { application, decided, driver, pod, remembered, said, spec } from "../fixtures.ts";

const count = 40;
const first = 1001;
const ids = (many: number, from = first): readonly number[] => Array.from({ length: many }, (_, at) => from + at);

const object = application({
  metadata: { annotations: { "rekindle.dev/executors": "own" } },
  spec: { ...spec, executor: { instances: count, cores: 1, memory: "512m" } },
  status: {
    applicationState: { state: "RUNNING" },
    submissionID: "submission-1",
    driverInfo: { podName: "spark-pi-driver", webUIServiceName: "ui" },
    executorState: Object.fromEntries(ids(count).map((id) => [`p-exec-${id}`, "RUNNING"])),
  },
});

const memory = remembered({
  driver,
  spec: relevant(object, true),
  allotment: {
    ...newAllotment(1, "p", undefined),
    listens: true,
    next: first + count,
    alive: `${first}-${first + count - 1}`,
  },
});

const executor = (id: number, exitCode?: number): Stored =>
  pod({
    ...{ role: "executor", owner: "driver-1", executor: id, name: `p-exec-${id}`, uid: `u-${id}` },
    ...(exitCode === undefined ? {} : { phase: "Failed", exitCode, finishedAt: "2026-11-02T07:59:59Z" }),
  });

/** Returns all executors, of which the first `many` have ended. */
const lost = (many: number): readonly Stored[] =>
  ids(count).map((id) => executor(id, id < first + many ? 137 : undefined));

const linesOf = (effects: readonly Effect[]): readonly string[] => effects.map(said);
const losses = (effects: readonly Effect[]): readonly string[] =>
  effects.flatMap((effect) => (effect.do === "record" && effect.reason === "ExecutorLost" ? [effect.occasion] : []));

describe("executors that are lost at once", () => {
  for (const many of [1, 16])
    test(`are only replaced in the first step, also if they are ${many}`, () => {
      const { plan, before } = decided({ object, memory, pods: [pod(), ...lost(many)] });
      assert.deepEqual(before, []);
      assert.equal(linesOf(plan.stages.flat()).filter((line) => line.startsWith("create pods")).length, many);
      assert.equal(plan.stages.flat().length, many);
      assert.deepEqual([plan.status, plan.safety?.live], [undefined, undefined]);
      assert.deepEqual(plan.memory.executors?.untold, ids(many));
    });

  test("are replaced and reported in one step, while the status does not show the state of the run", () => {
    const { status = {} } = object;
    const submitted = { ...object, status: { ...Object(status), applicationState: { state: "SUBMITTED" } } };
    const { plan } = decided({ object: submitted, memory, pods: [pod(), ...lost(16)] });
    assert.equal(losses(plan.stages.flat()).length, 16);
    assert.notEqual(plan.status, undefined);
  });

  test("are reported once the record holds as many unreported losses as it has room for", () => {
    const one = decided({ object, memory, pods: [pod(), ...lost(12)] }).plan;
    const made = ids(12, first + count).map((id) => executor(id));
    const next = decided({ object, memory: one.memory, pods: [pod(), ...lost(20), ...made] });
    assert.equal(linesOf(next.plan.stages.flat()).filter((line) => line.startsWith("create pods")).length, 8);
    assert.equal(losses([...next.before, ...next.plan.stages.flat()]).length, 20);
    assert.notEqual(next.plan.status, undefined);
  });

  test("are only replaced in the first step, if there are many: the record keeps the Events for the next step", () => {
    const { plan } = decided({ object, memory, pods: [pod(), ...lost(17)] });
    assert.equal(linesOf(plan.stages.flat()).filter((line) => line.startsWith("create pods")).length, 17);
    assert.equal(plan.stages.flat().length, 17);
    assert.deepEqual([plan.status, plan.safety?.live], [undefined, undefined]);
    assert.deepEqual(plan.memory.executors?.untold, ids(17));
  });

  test("are reported as Events by the next step alone", () => {
    const before = decided({ object, memory, pods: [pod(), ...lost(17)] }).plan;
    const pods = [pod(), ...lost(17), ...ids(17, first + count).map((id) => executor(id))];
    const next = decided({ object, memory: before.memory, pods });
    assert.deepEqual(
      losses(next.before),
      ids(17).map((id) => `1 executor ${id}`),
    );
    assert.equal(next.plan.memory.executors?.untold, undefined);
    assert.notEqual(next.plan.status, undefined);
    const last = decided({ object, memory: next.plan.memory, pods });
    assert.deepEqual(losses([...last.before, ...last.plan.stages.flat()]), []);
  });

  test("are kept for their Events, the latest twenty, while more executors are lost and replaced", () => {
    const one = decided({ object, memory, pods: [pod(), ...lost(17)] }).plan;
    const made = ids(17, first + count).map((id) => executor(id));
    const two = decided({
      object,
      memory: one.memory,
      pods: [pod(), ...lost(40), ...made],
      now: Date.UTC(2026, 10, 2, 8, 0, 5),
    }).plan;
    assert.equal(linesOf(two.stages.flat()).filter((line) => line.startsWith("create pods")).length, 23);
    assert.deepEqual(losses(two.stages.flat()), []);
    assert.deepEqual(two.memory.executors?.untold, ids(20, first + 20));
  });
});
