/** The first step of a new object as the watch has shown it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { list, type Reads } from "../../../../shared/core/decision.ts";
import type { Stored } from "../../../../shared/core/object.ts";
import type { View } from "../../../../shared/core/plan.ts";
import type { StepCache, World } from "../../../../shared/engine/context/world.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { creation, message, openFixture, parts, type Toy, type ToyPlan, toy } from "../fakes.ts";

const watched = { ...message, watched: true } as const;

const query = { do: "list", resource: parts, namespace: "ns", labels: {} } as const;

/** A decision that lists, and creates one more part at each step; `more` is added to every plan. */
const growing = (more: Partial<ToyPlan>) =>
  function* ({ memory }: View<Toy>): Reads<ToyPlan> {
    yield* list(query);
    const count = (memory?.count ?? 0) + 1;
    return { memory: { count }, stages: [[creation(`part-${count}`)]], ...more };
  };

describe("a new object of a kind whose watch answers reads", () => {
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
      return operator === undefined ? undefined : { ...operator, watched: () => [query] };
    };
    return { there, world: { ...there.world, cache, operatorOf } };
  };

  test("has its record saved without any read", async () => {
    const { there, world } = beginning();
    await step(world, fresh);
    assert.deepEqual(there.calls, ["save 1", "create parts part-1"]);
  });

  test("is read with everything else before a plan that needs live reads", async () => {
    const { there, world } = beginning({ safety: { live: true } });
    await step(world, fresh);
    assert.deepEqual(there.calls.slice(0, 4), ["load", "get toys bear", "list parts", "save 1"]);
  });

  test("is read before a plan that needs live reads, also if that rests on the object alone", async () => {
    const { there, world } = beginning();
    there.decide = () => ({ memory: { count: 1 }, stages: [], safety: { live: true } });
    await step(world, fresh);
    assert.deepEqual(there.calls, ["load", "get toys bear", "save 1"]);
  });

  test("is read if the watch does not have it whole", async () => {
    const { there, world } = beginning({}, undefined);
    await step({ ...world, cache: { ...world.cache, appeared: () => undefined } }, fresh);
    assert.deepEqual(there.calls.slice(0, 2), ["get toys bear", "save 1"]);
  });
});
