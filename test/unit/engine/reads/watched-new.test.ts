/** The first step of a kind of which only new objects come from the watch. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { list, type Reads } from "../../../../shared/core/decision.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import type { View } from "../../../../shared/core/plan.ts";
import type { StepCache, World } from "../../../../shared/engine/context/world.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { creation, message, openFixture, parts, type Toy, type ToyPlan, toy } from "../fakes.ts";

const watched = { ...message, watched: true } as const;

/** A decision that lists, and creates one more part at each step; `more` is added to every plan. */
const growing = (more: Partial<ToyPlan>) =>
  function* ({ memory }: View<Toy>): Reads<ToyPlan> {
    yield* list({ do: "list", resource: parts, namespace: "ns", labels: {} });
    const count = (memory?.count ?? 0) + 1;
    return { memory: { count }, stages: [[creation(`part-${count}`)]], safety: { staleSafe: true }, ...more };
  };

describe("a kind of which only new objects come from the watch", () => {
  const fresh = { ...watched, fresh: true } as const;
  /** `shown`: the new object as the watch has it whole. */
  const beginning = (more: Partial<ToyPlan> = {}, shown: Stored | undefined = toy()) => {
    const there = openFixture(growing(more));
    const epoch = { date: there.time.now, at: there.time.monotonic };
    const cache: StepCache = {
      ...{ take: () => undefined, keep: () => {}, changed: () => undefined, made: () => {}, invalidate: () => {} },
      appeared: () => (shown === undefined ? undefined : { object: shown, epoch }),
      look: () => [],
    };
    const operatorOf: World["operatorOf"] = (kind) => {
      const operator = there.world.operatorOf(kind);
      return operator === undefined ? undefined : { ...operator, watchful: "new" };
    };
    return { there, world: { ...there.world, cache, operatorOf } };
  };

  test("saves the record of a new object without any read", async () => {
    const { there, world } = beginning();
    await step(world, fresh);
    assert.deepEqual(there.calls, ["save 1", "create parts part-1"]);
  });

  test("reads everything before a plan of a new object that is not stale-safe", async () => {
    const { there, world } = beginning({ safety: {} });
    await step(world, fresh);
    assert.deepEqual(there.calls.slice(0, 4), ["load", "get toys bear", "list parts", "save 1"]);
  });

  test("reads a new object that the watch does not have whole, and all that its plan asks", async () => {
    const { there, world } = beginning({}, undefined);
    await step({ ...world, cache: { ...world.cache, appeared: () => undefined } }, fresh);
    assert.deepEqual(there.calls.slice(0, 3), ["get toys bear", "list parts", "save 1"]);
  });

  test("reads everything for a known object that the cache lacks", async () => {
    const { there, world } = beginning();
    await step(world, watched);
    assert.deepEqual(there.calls.slice(0, 3), ["load", "get toys bear", "list parts"]);
  });
});
