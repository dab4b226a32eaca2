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
  test("that is there already is not written", async () => {
    const world = telling({ phase: "made", parts: { arm: 1, leg: 2 } });
    world.put(toy({}, { parts: { leg: 2, arm: 1 }, phase: "made" }));
    await step(world.world, message);
    assert.equal(patches(world), 0);
  });

  test("replaces what was there: nothing of an old one stays", async () => {
    const world = telling({ phase: "made" });
    world.put(toy({}, { phase: "torn", parts: { arm: 1 } }));
    await step(world.world, message);
    assert.deepEqual(world.objects.get("toys bear")?.["status"], { phase: "made" });
  });

  test("that the CRD prunes is written once and not for ever", async () => {
    const world = telling({ phase: "made", detail: "brown" });
    world.keeps = pruning;
    for (let times = 0; times < 4; times++) await step(world.world, message);
    assert.deepEqual([patches(world), writesIn(world.calls).length], [1, 3]);
  });

  test("that is pruned is written again when the wish changes, and when somebody else changed it", async () => {
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

  test("is not shown by who saves nothing and goes by a record that others have gone on from", async () => {
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

  test("is not shown by who was held up beyond its fence while others went on and had nothing to show", async () => {
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

  test("comes after the effects: a death between them says too little, never too much", async () => {
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

  test("whose answer was lost is compared anew by the next step", async () => {
    const world = telling({ phase: "made" });
    world.after = (call) => {
      if (call === "patch toys bear") throw failing(0, "Timeout");
    };
    await step(world.world, message);
    world.after = () => {};
    assert.deepEqual(await step(world.world, message), { did: "step", writes: 0 });
  });

  test("that has been in trouble is told before anything rests", async () => {
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

  test("of an object that is gone is not written", async () => {
    const world = telling({ phase: "made" });
    await step(world.world, message);
    world.objects.delete("toys bear");
    await step(world.world, message);
    assert.equal(patches(world), 1);
  });
});

describe("what is still to be written", () => {
  const memo = (wished: unknown, answered: unknown) => ({ wished: digestOf(wished), answered: digestOf(answered) });
  const cases = [
    { name: "no status yet, none wished", there: undefined, wished: {}, memo: undefined, patch: undefined },
    { name: "the first", there: undefined, wished: { a: 1 }, memo: undefined, patch: { a: 1 } },
    {
      name: "only what differs",
      there: { a: 1, b: { c: 2, d: 3 } },
      wished: { a: 1, b: { c: 2 } },
      memo: undefined,
      patch: { b: { d: null } },
    },
    { name: "a null of another writer goes", there: { a: null }, wished: {}, memo: undefined, patch: { a: null } },
    {
      name: "the same wish with the same answer: nothing",
      there: { a: 1 },
      wished: { a: 1, b: 2 },
      memo: memo({ a: 1, b: 2 }, { a: 1 }),
      patch: undefined,
    },
    {
      name: "the same wish, another answer",
      there: { a: 2 },
      wished: { a: 1, b: 2 },
      memo: memo({ a: 1, b: 2 }, { a: 1 }),
      patch: { a: 1, b: 2 },
    },
    {
      name: "another wish, the same answer",
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
