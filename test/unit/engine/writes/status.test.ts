/** The one status write: it is compared with the server's answer, never with the desired status. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { digestOf } from "../../../../shared/core/json.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { statusPatch } from "../../../../shared/engine/writes/status.ts";
import { conflict, creation, type Fixture, failing, message, openFixture, toy, writesIn } from "../fakes.ts";

const telling = (status: Record<string, unknown>): Fixture =>
  openFixture(() => ({ memory: { count: 1 }, stages: [], status }));

/** A CRD that keeps `phase` and nothing else. */
const pruning = (status: unknown): unknown =>
  typeof status === "object" && status !== null && "phase" in status ? { phase: status.phase } : {};

const patches = (world: Fixture): number => world.calls.filter((call) => call.startsWith("patch")).length;

describe("a status", () => {
  test("is not written if the object has it already", async () => {
    const world = telling({ phase: "made", parts: { arm: 1, leg: 2 } });
    world.put(toy({}, { parts: { leg: 2, arm: 1 }, phase: "made" }));
    await step(world.world, message);
    assert.equal(patches(world), 0);
  });

  test("replaces the old one completely", async () => {
    const world = telling({ phase: "made" });
    world.put(toy({}, { phase: "torn", parts: { arm: 1 } }));
    await step(world.world, message);
    assert.deepEqual(world.objects.get("toys bear")?.["status"], { phase: "made" });
  });

  test("is written once although the CRD prunes it", async () => {
    const world = telling({ phase: "made", detail: "brown" });
    world.keeps = pruning;
    for (let times = 0; times < 4; times++) await step(world.world, message);
    assert.deepEqual([patches(world), writesIn(world.calls).length], [1, 3]);
  });

  test("that the CRD prunes is written again after a change of the desired or of the stored status", async () => {
    let detail = "brown";
    const world = openFixture(() => ({ memory: { count: 1 }, stages: [], status: { phase: "made", detail } }));
    world.keeps = pruning;
    await step(world.world, message);
    detail = "grey";
    await step(world.world, message);
    assert.equal(patches(world), 2);
    world.put(toy({}, { phase: "torn" }));
    await step(world.world, message);
    assert.deepEqual([patches(world), world.objects.get("toys bear")?.["status"]], [3, { phase: "made" }]);
  });

  test("that was decided on an older object is refused by its resourceVersion and decided again", async () => {
    const world = telling({ phase: "made" });
    world.before = (call) => {
      if (call !== "patch toys bear") return;
      world.before = () => {};
      world.put(toy({ generation: 2 }));
    };
    assert.deepEqual(await step(world.world, message), {
      did: "troubled",
      reason: "Conflict",
      message: conflict().message,
    });
    await step(world.world, message);
    assert.deepEqual(world.objects.get("toys bear")?.["status"], { phase: "made" });
  });

  test("is not written by a step that saves nothing on a record that another step has replaced", async () => {
    let least = 1;
    const world = openFixture(({ memory }) => {
      const count = Math.max(least, memory?.count ?? 0);
      return { memory: { count }, stages: [], status: { phase: `at ${count}` } };
    });
    await step(world.world, message);
    world.before = async (call) => {
      if (call !== "get toys bear") return;
      world.before = () => {};
      least = 2;
      await step(world.world, message);
      least = 1;
    };
    assert.deepEqual(await step(world.world, message), { did: "raced" });
    assert.deepEqual(world.objects.get("toys bear")?.["status"], { phase: "at 2" });
    assert.deepEqual(
      world.sent.map(({ message: { reason } }) => reason),
      ["raced"],
    );
  });

  test("is not written by a step beyond its fence after other steps have saved without a status write", async () => {
    const world = openFixture(({ memory }) => {
      const count = (memory?.count ?? 0) + 1;
      const status = { phase: count === 2 ? "past" : "as it is" };
      return { memory: { count }, stages: count === 2 ? [[creation("arm")]] : [], status };
    });
    world.put(toy({}, { phase: "as it is" }));
    await step(world.world, message);
    world.before = async (call) => {
      if (call !== "create parts arm") return;
      world.before = () => {};
      world.time.monotonic += 10_001;
      world.time.now += 10_001;
      await step(world.world, message);
    };
    assert.deepEqual(await step(world.world, message), { did: "raced" });
    assert.deepEqual([world.record()?.memory, patches(world)], [{ count: 3 }, 0]);
  });

  test("is written after the effects, so that a death between them leaves the older status", async () => {
    const world = telling({ phase: "made" });
    world.decide = () => ({
      memory: { count: 1 },
      stages: [
        [
          {
            do: "delete",
            ref: { resource: { group: "", version: "v1", plural: "parts", kind: "Part" }, name: "arm" },
            uid: "1",
          },
        ],
      ],
      status: { phase: "made" },
    });
    await step(world.world, message);
    assert.deepEqual(writesIn(world.calls), ["save 1", "remove parts arm", "patch toys bear"]);
  });

  test("whose answer was lost is compared again by the next step", async () => {
    const world = telling({ phase: "made" });
    world.after = (call) => {
      if (call === "patch toys bear") throw failing(0, "Timeout");
    };
    await step(world.world, message);
    world.after = () => {};
    assert.deepEqual(await step(world.world, message), { did: "step", writes: 0 });
  });

  test("whose write met trouble is written before the record rests", async () => {
    const world = openFixture(() => ({
      memory: { count: 1 },
      stages: [],
      status: { phase: "made" },
      next: { do: "rest" },
    }));
    world.before = (call) => {
      if (call === "patch toys bear") throw failing(500, "InternalError");
    };
    for (const tries of [2, 3]) {
      await step(world.world, { ...message, tries });
      assert.equal(world.record()?.rests, undefined);
    }
    world.before = () => {};
    await step(world.world, { ...message, tries: 4 });
    assert.deepEqual([world.record()?.rests, world.record()?.trouble], [true, undefined]);
  });

  test("of a deleted object is not written", async () => {
    const world = telling({ phase: "made" });
    await step(world.world, message);
    world.objects.delete("toys bear");
    await step(world.world, message);
    assert.equal(patches(world), 1);
  });
});

describe("the patch of a status", () => {
  const memo = (wished: unknown, answered: unknown) => ({ wished: digestOf(wished), answered: digestOf(answered) });
  const cases = [
    {
      name: "is none if there is no status and none is desired",
      there: undefined,
      wished: {},
      memo: undefined,
      patch: undefined,
    },
    { name: "is the whole of the first status", there: undefined, wished: { a: 1 }, memo: undefined, patch: { a: 1 } },
    {
      name: "has only the fields that differ",
      there: { a: 1, b: { c: 2, d: 3 } },
      wished: { a: 1, b: { c: 2 } },
      memo: undefined,
      patch: { b: { d: null } },
    },
    { name: "removes a null of another writer", there: { a: null }, wished: {}, memo: undefined, patch: { a: null } },
    {
      name: "is none if the desired status and the server's answer are those of before",
      there: { a: 1 },
      wished: { a: 1, b: 2 },
      memo: memo({ a: 1, b: 2 }, { a: 1 }),
      patch: undefined,
    },
    {
      name: "has the desired status if the server's answer differs from before",
      there: { a: 2 },
      wished: { a: 1, b: 2 },
      memo: memo({ a: 1, b: 2 }, { a: 1 }),
      patch: { a: 1, b: 2 },
    },
    {
      name: "has the changed fields if the desired status differs from before",
      there: { a: 1 },
      wished: { a: 1, b: 3 },
      memo: memo({ a: 1, b: 2 }, { a: 1 }),
      patch: { b: 3 },
    },
  ];
  for (const { name, there, wished, memo: kept, patch } of cases) {
    test(name, () => assert.deepEqual(statusPatch(toy({}, there), wished, kept), patch));
  }
});
