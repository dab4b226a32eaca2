/** The first read: the UID that a memory belongs to, when an absence is believed, and records that stop the key. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { type Fixture, message, openFixture, toy } from "../fakes.ts";

/** A world whose toy has a record, and the list of views that decisions got. */
const recorded = async (): Promise<{ world: Fixture; seen: unknown[] }> => {
  const world = openFixture();
  await step(world.world, message);
  const seen: unknown[] = [];
  world.decide = ({ object, memory }) => {
    seen.push(object?.metadata.generation);
    return { memory: memory ?? { count: 0 }, stages: [] };
  };
  world.calls.length = 0;
  world.sent.length = 0;
  return { world, seen };
};

describe("an object's absence", () => {
  test("is confirmed by a list before it is believed", async () => {
    const { world, seen } = await recorded();
    world.objects.delete("toys bear");
    world.put({ ...toy(), metadata: { ...toy().metadata, name: "doll", uid: "toy-2" } });
    assert.equal((await step(world.world, message)).did, "step");
    assert.deepEqual([world.calls.slice(0, 3), seen], [["load", "get toys bear", "list toys"], [undefined]]);
  });

  test("makes the step come back, and ends nothing, if a list shows the object", async () => {
    const { world, seen } = await recorded();
    const bear = toy();
    world.objects.delete("toys bear");
    world.before = (call) => {
      if (call === "list toys") world.put(bear);
    };
    assert.deepEqual(await step(world.world, message), {
      did: "troubled",
      reason: "StaleRead",
      message: "Toy ns/bear was not found by name but is listed; trying again",
    });
    assert.deepEqual([seen, world.sent.map((sent) => sent.message.tries)], [[], [1]]);
  });

  test("needs no confirmation if the key has no record", async () => {
    const world = openFixture();
    world.objects.clear();
    assert.deepEqual(await step(world.world, message), { did: "nothing", why: "neither object nor checkpoint" });
    assert.deepEqual(world.calls, ["load", "get toys bear"]);
  });
});

describe("the object", () => {
  test("is read after the record, so that the step sees every change made before another step's save", async () => {
    const { world, seen } = await recorded();
    world.before = async (call) => {
      if (call !== "load") return;
      await new Promise(setImmediate);
      world.put(toy({ generation: 2 }));
    };
    await step(world.world, message);
    assert.deepEqual(seen, [2]);
  });
});

describe("an object that is older than the memory", () => {
  const cases = [
    { name: "is read again", again: 2, want: 2 },
    { name: "is believed at the second read, because the server may have been restored", again: 1, want: 1 },
  ];
  for (const { name, again, want } of cases) {
    test(name, async () => {
      const { world, seen } = await recorded();
      world.put(toy({ generation: 2 }));
      await step(world.world, message);
      seen.length = 0;
      world.put(toy({ generation: 1 }));
      world.after = (call) => {
        if (call === "get toys bear") world.put(toy({ generation: again }));
      };
      await step(world.world, message);
      assert.deepEqual(seen, [want]);
    });
  }

  test("is confirmed as absent by a list if the second read does not find it", async () => {
    const { world } = await recorded();
    world.put(toy({ generation: 2 }));
    await step(world.world, message);
    world.put(toy({ generation: 1 }));
    world.after = (call) => {
      if (call === "get toys bear") world.objects.delete("toys bear");
    };
    world.calls.length = 0;
    await step(world.world, message);
    assert.deepEqual(world.calls, ["load", "get toys bear", "get toys bear", "list toys"]);
  });
});
