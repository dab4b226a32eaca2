/**
 * Creations with a shorter fence: they start soon after the first read or not at all, so that a missing object counts
 * as lost sooner.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { creation, type Fixture, message, openFixture, toy } from "./fakes.ts";

const createWithinMs = 3_000;

/** A toy whose plan creates an arm within `createWithinMs`, unless the step is slow. */
const opened = (): { readonly world: Fixture; readonly slow: (boolean | undefined)[] } => {
  const slow: (boolean | undefined)[] = [];
  const world = openFixture(({ slow: late }) => {
    slow.push(late);
    return { memory: { count: 1 }, stages: [[creation("arm")]], safety: late === true ? {} : { createWithinMs } };
  });
  world.put(toy());
  return { world, slow };
};

/** Advances the monotonic clock by `ms` in each call of this name. */
const passing = (world: Fixture, name: string, ms: number): void => {
  world.before = (call) => {
    if (call.startsWith(name)) world.time.monotonic += ms;
  };
};

const has = (world: Fixture): boolean => world.objects.has("parts arm");

describe("a creation with a shorter fence", () => {
  const rows = [
    { why: "starts if no call was slow", slow: "none", ms: 0, did: "step", made: true, looks: [undefined] },
    {
      why: "starts if the save ends exactly at its fence",
      slow: "save",
      ms: 3_000,
      did: "step",
      made: true,
      looks: [undefined],
    },
    {
      why: "does not start if the save took longer than its fence",
      slow: "save",
      ms: 3_001,
      did: "troubled",
      made: false,
      looks: [undefined],
    },
    {
      why: "is decided again if the read took more than half of its fence, and then has time enough",
      slow: "load",
      ms: 1_501,
      did: "step",
      made: true,
      looks: [undefined, true],
    },
    {
      why: "is not decided again if the read took exactly half of its fence",
      slow: "load",
      ms: 1_500,
      did: "step",
      made: true,
      looks: [undefined],
    },
  ];
  for (const { why, slow: name, ms, did, made, looks } of rows)
    test(why, async () => {
      const { world, slow } = opened();
      passing(world, name, ms);
      assert.equal((await step(world.world, message)).did, did);
      assert.deepEqual([has(world), slow], [made, looks]);
    });

  test("saves the record once even if it is decided again", async () => {
    const { world } = opened();
    passing(world, "load", 9_000);
    await step(world.world, message);
    assert.deepEqual(
      world.calls.filter((call) => call.startsWith("save")),
      ["save 1"],
    );
  });
});
