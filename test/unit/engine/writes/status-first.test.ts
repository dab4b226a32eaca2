/**
 * A plan whose status is the record: the status write is the lock, the effects come after it, and no record is saved.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { View } from "../../../../shared/core/plan.ts";
import type { CachedStep, StepCache, World } from "../../../../shared/engine/context/world.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { creation, eight, type Fixture, message, openFixture, type Toy, type ToyPlan, toy } from "../fakes.ts";

const fresh = { ...message, fresh: true, watched: true } as const;
const watched = { ...message, watched: true } as const;

const shown: ToyPlan = {
  memory: { count: 0 },
  stages: [[creation("arm")]],
  status: { phase: "new" },
  safety: { statusIsRecord: true },
};

/** A plan that creates an arm, with the status as its record; then one that creates a leg, with a saved memory. */
const growing = ({ object, memory }: View<Toy>): ToyPlan =>
  object?.["status"] === undefined
    ? shown
    : { memory: { count: (memory?.count ?? 10) + 1 }, stages: [[creation("leg")]], status: { phase: "old" } };

const watchful = (there: Fixture, cache: Partial<StepCache>): World => {
  const { world } = there;
  const nothing: StepCache = {
    take: () => undefined,
    keep: () => {},
    look: () => undefined,
    appeared: () => undefined,
    changed: () => undefined,
    made: () => {},
    invalidate: () => {},
  };
  return {
    ...world,
    cache: { ...nothing, ...cache },
    operatorOf: (kind) => {
      const operator = world.operatorOf(kind);
      return operator === undefined ? undefined : { ...operator, watched: () => [] };
    },
  };
};

describe("a status that is the record", () => {
  test("is written before the effects, and no record is saved", async () => {
    const there = openFixture(growing);
    assert.deepEqual(await step(there.world, message), { did: "step", writes: 2 });
    assert.deepEqual(there.calls, ["load", "get toys bear", "patch toys bear", "create parts arm"]);
    assert.equal(there.record(), undefined);
  });

  test("is the start of the next step, which saves a record if its plan needs one", async () => {
    const there = openFixture(growing);
    await step(there.world, message);
    there.calls.length = 0;
    await step(there.world, message);
    assert.deepEqual(there.calls, ["load", "get toys bear", "save 1", "create parts leg", "patch toys bear"]);
    assert.deepEqual(there.record()?.memory, { count: 11 });
  });

  test("is not written if it is the same, and a step without an effect saves no record either", async () => {
    const there = openFixture(() => ({ ...shown, stages: [] }));
    there.put(toy({}, { phase: "new" }));
    assert.deepEqual(await step(there.world, message), { did: "step", writes: 0 });
    assert.equal(there.record(), undefined);
  });

  test("is no lock if it is the same: a step with effects then saves a record", async () => {
    const there = openFixture(() => shown);
    there.put(toy({}, { phase: "new" }));
    await step(there.world, message);
    assert.deepEqual(there.calls, ["load", "get toys bear", "save 1", "create parts arm"]);
  });
});

describe("a step that loses the write of a status", () => {
  const changing = (): Fixture => {
    const there = openFixture(growing);
    there.before = (call) => {
      const isFirst = call === "patch toys bear" && there.objects.get("toys bear")?.["status"] === undefined;
      if (isFirst) there.put(toy({}, { phase: "taken" }));
    };
    return there;
  };

  test("touches nothing, and comes again", async () => {
    const there = changing();
    assert.deepEqual(await step(there.world, message), { did: "raced" });
    assert.equal(there.objects.has("parts arm"), false);
    assert.deepEqual(
      there.sent.map(({ message: { reason } }) => reason),
      ["raced"],
    );
  });

  test("reads live at once if it had assumed a new object", async () => {
    const there = changing();
    await step(there.world, fresh);
    assert.deepEqual([there.objects.has("parts arm"), there.objects.has("parts leg")], [false, true]);
  });
});

describe("a record is saved beside such a status", () => {
  const orderOf = ({ calls }: Fixture): readonly string[] => calls.filter((call) => /^(save|create)/.test(call));

  test("if the application has a listener, whose updates it carries", async () => {
    const there = openFixture(() => shown);
    const updates = { destinationOf: async () => "https://x.example", acknowledged: async () => undefined };
    await step({ ...there.world, updates }, message);
    assert.deepEqual(orderOf(there), ["save 1", "create parts arm"]);
  });

  test("if the server does not keep the written status", async () => {
    const there = openFixture(growing);
    there.keeps = () => ({ phase: "" });
    await step(there.world, message);
    assert.deepEqual(orderOf(there).slice(0, 2), ["save 1", "create parts arm"]);
  });
});

describe("the watch of an object", () => {
  test("is enough to begin a new object's first step while the server's clock was noted within a minute", async () => {
    const at = (there: Fixture, agoMs: number): Partial<StepCache> => ({
      appeared: () => ({
        object: there.objects.get("toys bear") ?? toy(),
        epoch: { date: eight, at: there.time.monotonic - agoMs },
      }),
    });
    const soon = openFixture(growing);
    await step(watchful(soon, at(soon, 60_000)), fresh);
    assert.deepEqual(soon.calls, ["patch toys bear", "create parts arm"]);
    const late = openFixture(growing);
    await step(watchful(late, at(late, 60_001)), fresh);
    assert.equal(late.calls[0], "get toys bear");
  });

  test("is not enough to begin once the object has a status", async () => {
    const there = openFixture(growing);
    const epoch = { date: eight, at: there.time.monotonic };
    await step(watchful(there, { appeared: () => ({ object: toy({}, { phase: "old" }), epoch }) }), fresh);
    assert.equal(there.calls[0], "get toys bear");
  });

  test("continues from the written status: the next save shows whether there is a record", async () => {
    const there = openFixture(growing);
    const kept: CachedStep[] = [];
    const world = watchful(there, { take: () => kept.pop(), keep: (_, one) => void kept.push(one) });
    await step(world, fresh);
    assert.deepEqual([kept[0]?.record, kept[0]?.object["status"]], [undefined, { phase: "new" }]);
    there.calls.length = 0;
    await step(world, watched);
    assert.deepEqual(there.calls, ["save 1", "create parts leg", "patch toys bear"]);
    assert.deepEqual(there.record()?.memory, { count: 1 });
  });
});

describe("the watch cache of a key", () => {
  const doubtful = async (call: object, kept: readonly CachedStep[] = [], plan: Partial<ToyPlan> = {}) => {
    const there = openFixture(() => ({
      memory: { count: 1 },
      stages: [[creation("arm")]],
      ...plan,
    }));
    const left = [...kept];
    let doubts = 0;
    const invalidate = (): void => {
      doubts += 1;
    };
    const cache = { take: () => left.pop(), keep: (_: unknown, one: CachedStep) => void left.push(one) };
    const world = watchful(there, { ...cache, invalidate });
    await step(world, { ...message, ...call });
    const first = doubts;
    await step(world, message);
    return [first, doubts - first];
  };

  test("is kept by a new key's step on the watch, and by a read that finds the process's own record", async () =>
    assert.deepEqual(await doubtful(fresh, [], { stages: [], status: { phase: "new" } }), [0, 0]));

  test("is invalidated by a step that saves after a live read", async () =>
    assert.deepEqual(await doubtful(fresh), [0, 1]));

  test("is invalidated by a record that another process saved, or that has no known origin", async () =>
    assert.deepEqual(await doubtful({}, [], { stages: [] }), [2, 0]));
});
