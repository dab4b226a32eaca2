/**
 * A plan that continues: the step decides again after its effects, reads only new objects, and then writes the status.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { get } from "../../../shared/core/decision.ts";
import type { Effect } from "../../../shared/core/plan.ts";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { creation, type Fixture, failing, message, openFixture, parts, refOf, toy, writesIn } from "./fakes.ts";

const arm = { do: "get", ref: refOf(parts, "arm") } as const;
const leg = { do: "get", ref: refOf(parts, "leg") } as const;

const wish = (name: string): Effect => {
  const effect = creation(name);
  return effect.do === "create" ? { ...effect, optional: true } : effect;
};

/** Reads an arm, creates a leg, and writes a status that says whether the leg exists. */
const growing = (effect: Effect): Fixture =>
  openFixture(function* ({ done = [] }) {
    yield* get(arm);
    const memory = { count: 1 };
    const wait = { waitsFor: { on: "trouble", message: "it" } } as const;
    if (done.length === 0)
      return { memory, stages: [[effect]], status: { phase: "never told" }, next: { do: "continue", ...wait } };
    const phase = (yield* get(leg)) === undefined ? "without" : "with";
    return { memory, stages: [], status: { phase }, next: { do: "wait", ...wait } };
  });

describe("a plan that continues", () => {
  test("is saved once, reads no object again that it has created, and writes the status at the end", async () => {
    const world = growing(creation("leg"));
    assert.deepEqual(await step(world.world, message), { did: "step", writes: 3 });
    assert.deepEqual(world.calls, [
      ...["load", "get toys bear", "get parts arm", "save 1"],
      ...["create parts leg", "patch toys bear"],
    ]);
    assert.deepEqual(world.objects.get("toys bear")?.["status"], { phase: "with" });
  });

  /** Creates a leg, and writes its resourceVersion into the status. */
  const measuring = (): Fixture =>
    openFixture(function* ({ done = [] }) {
      const memory = { count: 1 };
      if (done.length === 0) return { memory, stages: [[creation("leg")]], next: { do: "continue" } };
      const version = (yield* get(leg))?.metadata.resourceVersion;
      return { memory, stages: [], status: { version }, next: { do: "rest" } };
    });

  test("takes an object that it created from the answer to the creation", async () => {
    const world = measuring();
    await step(world.world, message);
    assert.ok(world.calls.includes("create parts leg"));
    assert.equal(world.calls.includes("get parts leg"), false);
    const { metadata } = world.objects.get("parts leg") ?? assert.fail("no leg was created");
    assert.deepEqual(world.objects.get("toys bear")?.["status"], { version: metadata.resourceVersion });
  });

  test("reads an object that it did not create itself, because the object existed before", async () => {
    const world = measuring();
    world.after = (call) => {
      if (call === "create parts leg") throw new Error("died");
    };
    await step(world.world, message);
    world.after = () => {};
    world.calls.length = 0;
    await step(world.world, message);
    assert.ok(world.calls.includes("create parts leg") && world.calls.includes("get parts leg"));
    const { metadata } = world.objects.get("parts leg") ?? assert.fail("no leg was created");
    assert.deepEqual(world.objects.get("toys bear")?.["status"], { version: metadata.resourceVersion });
  });

  test("skips an optional effect that is refused, and does not request it again", async () => {
    const world = growing(wish("leg"));
    world.before = (call) => {
      if (call === "create parts leg") throw failing(403, "Forbidden");
    };
    await step(world.world, message);
    assert.deepEqual(world.objects.get("toys bear")?.["status"], { phase: "without" });
    assert.equal(world.calls.filter((call) => call === "create parts leg").length, 2);
  });

  test("writes no status if the step dies in between: the next step decides again", async () => {
    const world = growing(creation("leg"));
    world.after = (call) => {
      if (call === "create parts leg") throw new Error("died");
    };
    await step(world.world, message);
    assert.equal(world.objects.get("toys bear")?.["status"], undefined);
    world.after = () => {};
    await step(world.world, message);
    assert.deepEqual(world.objects.get("toys bear")?.["status"], { phase: "with" });
  });
});

describe("an optional effect whose creation meets trouble", () => {
  const cases = [
    { name: "makes the step try again at first", tries: 1, want: "troubled", told: 0 },
    {
      name: "is given up after enough tries, with one log line",
      tries: 2,
      want: "step",
      told: 1,
    },
  ] as const;
  for (const { name, tries, want, told } of cases) {
    test(name, async () => {
      const world = openFixture(() => ({ memory: { count: 1 }, stages: [[wish("leg")]] }));
      world.put(toy());
      world.before = (call) => {
        if (call === "create parts leg") throw failing(503, "ServiceUnavailable");
      };
      assert.equal((await step(world.world, { ...message, tries })).did, want);
      assert.equal(world.lines.filter((line) => line.message === "continued without it").length, told);
      assert.ok(writesIn(world.calls).includes("create parts leg"));
    });
  }
});
