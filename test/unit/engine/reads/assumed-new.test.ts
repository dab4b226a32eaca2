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

describe("what seems new", () => {
  test("is not asked for its record: one request less", async () => {
    const world = openFixture(({ memory }) => making(memory));
    await step(world.world, fresh);
    assert.deepEqual(world.calls, ["get toys bear", "save 1", "create parts arm"]);
  });

  const known = [
    { name: "that shows a status", object: toy({}, { phase: "made" }), more: {} },
    { name: "that is being deleted", object: toy({ deletionTimestamp: "2026-11-02T08:00:00Z" }), more: {} },
    { name: "that a shadow looks at", object: toy(), more: { shadow: () => {} } },
  ];
  for (const { name, object, more } of known) {
    test(`${name} is asked for it`, async () => {
      const world = openFixture(({ memory }) => making(memory));
      world.put(object);
      await step({ ...world.world, ...more }, fresh);
      assert.deepEqual(world.calls.includes("load"), true);
    });
  }
});

describe("presumed wrongly", () => {
  test("the save says so, and is all that was tried: it is decided again from the record", async () => {
    const world = await recorded(({ memory }) => making(memory));
    assert.deepEqual(await step(world.world, fresh), { did: "step", writes: 2 });
    assert.deepEqual(writesIn(world.calls), ["save 1", "save 2", "create parts leg"]);
    assert.deepEqual([world.record()?.memory, world.sent], [{ count: 1 }, []]);
  });

  test("a record is not left standing by who would forget it", async () => {
    const world = await recorded(() => ({ memory: { count: 0 }, stages: [], next: { do: "forget" } }));
    await step(world.world, fresh);
    assert.equal(world.record(), undefined);
  });

  test("one that cannot be read stops everything, as always", async () => {
    const world = await recorded(({ memory }) => making(memory));
    const load = async () => ({ record: "rubbish", version: "1" });
    const ending = await step({ ...world.world, checkpoints: { ...world.world.checkpoints, load } }, fresh);
    assert.deepEqual([ending.did, world.objects.has("parts arm")], ["stopped", false]);
  });

  test("a race after the first save is a race like any other", async () => {
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

  test("who comes back has been at a save already, and asks", async () => {
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
