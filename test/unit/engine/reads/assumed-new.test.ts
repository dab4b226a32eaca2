/**
 * A key whose object the watch saw appear is assumed to have no record: the first save proves it, and a wrong
 * assumption has no effect.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { step } from "../../../../shared/engine/reconcile/step.ts";
import {
  creation,
  type Fixture,
  failing,
  message,
  openFixture,
  type Toy,
  type ToyPlan,
  toy,
  writesIn,
} from "../fakes.ts";

const fresh = { ...message, fresh: true } as const;

/** A world whose toy has a record and no status, as after a death before the first status write. */
const recorded = async (decide: Fixture["decide"]): Promise<Fixture> => {
  const world = openFixture();
  await step(world.world, message);
  world.calls.length = 0;
  world.sent.length = 0;
  world.decide = decide;
  return world;
};

const making = (memory: Toy | undefined): ToyPlan => ({
  memory: { count: (memory?.count ?? 0) + 1 },
  stages: [[creation(memory === undefined ? "arm" : "leg")]],
});

describe("the step of an object that is assumed to be new", () => {
  test("does not read the record, and so saves one request", async () => {
    const world = openFixture(({ memory }) => making(memory));
    await step(world.world, fresh);
    assert.deepEqual(world.calls, ["get toys bear", "save 1", "create parts arm"]);
  });

  const known = [
    { name: "with a status", object: toy({}, { phase: "made" }), more: {} },
    { name: "that is being deleted", object: toy({ deletionTimestamp: "2026-11-02T08:00:00Z" }), more: {} },
    { name: "in shadow mode", object: toy(), more: { shadow: () => {} } },
  ];
  for (const { name, object, more } of known) {
    test(`reads the record of an object ${name}`, async () => {
      const world = openFixture(({ memory }) => making(memory));
      world.put(object);
      await step({ ...world.world, ...more }, fresh);
      assert.deepEqual(world.calls.includes("load"), true);
    });
  }
});

describe("a wrong assumption that an object is new", () => {
  test("is found by the first save, and the step decides again on the record", async () => {
    const world = await recorded(({ memory }) => making(memory));
    assert.deepEqual(await step(world.world, fresh), { did: "step", writes: 2 });
    assert.deepEqual(writesIn(world.calls), ["save 1", "save 2", "create parts leg"]);
    assert.deepEqual([world.record()?.memory, world.sent], [{ count: 1 }, []]);
  });

  test("does not leave a record that the plan forgets", async () => {
    const world = await recorded(() => ({ memory: { count: 0 }, stages: [], next: { do: "forget" } }));
    await step(world.world, fresh);
    assert.equal(world.record(), undefined);
  });

  test("stops the step if the record cannot be read, as always", async () => {
    const world = await recorded(({ memory }) => making(memory));
    const load = async () => ({ record: "rubbish", version: "1" });
    const ending = await step({ ...world.world, checkpoints: { ...world.world.checkpoints, load } }, fresh);
    assert.deepEqual([ending.did, world.objects.has("parts arm")], ["stopped", false]);
  });

  test("has no part in a race after the first save, which ends as any other race", async () => {
    const world = openFixture(({ refused }) => (refused.length === 0 ? making(undefined) : making({ count: 4 })));
    world.before = async (call) => {
      if (call !== "create parts arm") return;
      const loaded = await world.checkpoints.load(message);
      const record = world.record();
      if (record?.saves === 1) await world.checkpoints.save(message, { ...record, saves: 2 }, loaded?.version);
      throw failing(422, "Invalid");
    };
    assert.deepEqual(await step(world.world, fresh), { did: "raced" });
    assert.equal(world.calls.includes("load"), false);
  });

  test("is not repeated by a retry: a retried message no longer counts as fresh", async () => {
    const world = openFixture(({ memory }) => making(memory));
    world.before = (call) => {
      if (call === "create parts arm") throw failing(500, "InternalError");
    };
    await step(world.world, fresh);
    assert.deepEqual(
      world.sent.map(({ message: back }) => [back.reason, back.fresh]),
      [["retry", undefined]],
    );
  });
});
