/** The refusal of an optional effect is reported once, also if the first step that reports it meets trouble. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Effect } from "../../../../shared/core/plan.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { type Fixture, failing, message, openFixture, part, parts, toy } from "../fakes.ts";

const wish: Effect = { do: "create", object: part("leg"), resource: parts, owner: "toy-1", optional: true };

/** A world in which the creation of the leg is forbidden, and the first `times` Events meet trouble. */
const withoutLeg = (times: number): Fixture => {
  const world = openFixture(({ done = [] }) =>
    done.includes(wish)
      ? { memory: { count: 2 }, stages: [] }
      : { memory: { count: 1 }, stages: [[wish]], next: { do: "continue" } },
  );
  world.put(toy());
  let left = times;
  world.before = (call) => {
    if (call === "create parts leg") throw failing(403, "Forbidden");
    if (!call.startsWith("create events") || left <= 0) return;
    left -= 1;
    throw failing(503, "ServiceUnavailable");
  };
  return world;
};

const told = (world: Fixture): number => [...world.objects.values()].filter(({ kind }) => kind === "Event").length;

describe("the Event of a skipped optional effect", () => {
  test("is recorded once", async () => {
    const world = withoutLeg(0);
    assert.equal((await step(world.world, message)).did, "step");
    assert.equal(told(world), 1);
  });

  test("is tried again if it meets trouble", async () => {
    const world = withoutLeg(1);
    assert.equal((await step(world.world, message)).did, "troubled");
    assert.deepEqual([told(world), world.record()?.memory], [0, { count: 1 }]);
    assert.equal((await step(world.world, world.sent[0]?.message ?? message)).did, "step");
    assert.deepEqual([told(world), world.record()?.memory], [1, { count: 2 }]);
  });

  test("is given up after enough tries, so that the step continues", async () => {
    const world = withoutLeg(9);
    assert.equal((await step(world.world, { ...message, tries: 2 })).did, "step");
    assert.deepEqual([told(world), world.record()?.memory], [0, { count: 2 }]);
  });
});
