/** Only the step whose status write succeeds counts metrics. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { MetricSample } from "../../../shared/core/metric.ts";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { conflict, type Fixture, message, openFixture } from "./fakes.ts";

const metered = (): { world: Fixture; told: MetricSample[]; run: () => ReturnType<typeof step> } => {
  const told: MetricSample[] = [];
  const world = openFixture(() => ({ memory: { count: 1 }, stages: [], status: { phase: "made" } }));
  return { world, told, run: () => step({ ...world.world, meter: (measures) => told.push(...measures) }, message) };
};

test("a step counts a status once, when it writes it", async () => {
  const { told, run } = metered();
  await run();
  await run();
  assert.deepEqual(told, [{ do: "count", name: "made", value: 1, of: {} }]);
});

test("a step that loses the status write counts nothing", async () => {
  const { world, told, run } = metered();
  world.before = (call) => {
    if (call.startsWith("patch")) throw conflict();
  };
  await run();
  assert.deepEqual(told, []);
});

test("a step counts a record that it cannot use, and the status in which it shows that", async () => {
  const { world, told, run } = metered();
  await run();
  world.world.operatorOf("Toy");
  told.length = 0;
  const parse = world.world.operatorOf;
  const broken: Fixture["world"] = {
    ...world.world,
    meter: (measures) => void told.push(...measures),
    operatorOf: (kind) => {
      const operator = parse(kind);
      return operator === undefined ? undefined : { ...operator, parse: () => ({ ok: false, error: "odd" }) };
    },
  };
  assert.equal((await step(broken, message)).did, "stopped");
  assert.deepEqual(
    told.map(({ name }) => name),
    ["rekindle_recovery_errors_total", "made"],
  );
});
