/** Which plans are carried out on what a watch has shown, and what a watch may answer. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { get, list, type Reads } from "../../../../shared/core/decision.ts";
import type { Key } from "../../../../shared/core/key.ts";
import { apiVersionOf, type Stored } from "../../../../shared/core/object.ts";
import { type Effect, type Listing, type Looking, onLiveReads, type View } from "../../../../shared/core/plan.ts";
import type { CachedStep, StepCache, World } from "../../../../shared/engine/context/world.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { pods } from "../../../../shared/kube/resources.ts";
import { creation, type Fixture, message, openFixture, parts, refOf, type Toy, type ToyPlan } from "../fakes.ts";

const watched = { ...message, watched: true } as const;
const limbs: Listing = { do: "list", resource: pods, namespace: "ns", labels: { of: "bear" } };

const podNamed = (name: string, phase: string): Stored => ({
  ...{ apiVersion: apiVersionOf(pods), kind: "Pod", status: { phase } },
  metadata: { name, namespace: "ns", uid: `${name}-1`, resourceVersion: "5" },
});

const removal = (name: string): Effect => ({ do: "delete", ref: refOf(pods, name), uid: `${name}-1` });

type Watch = {
  readonly shown?: readonly Stored[];
  readonly isCurrent?: boolean;
};

/** A world after one live step, whose cache holds it and whose watch shows two pods. */
const watching = async (decide: (view: View<Toy>) => Reads<ToyPlan>, { shown, isCurrent = true }: Watch = {}) => {
  const fixture = openFixture(decide);
  const kept: CachedStep[] = [];
  const there = shown ?? [podNamed("arm", "Running"), podNamed("leg", "Failed")];
  const look = (_: Key, query: Looking, least?: "current"): readonly Stored[] | undefined => {
    if (least === "current" && !isCurrent) return undefined;
    return query.do === "list" ? there : there.filter(({ metadata }) => metadata.name === query.ref.name);
  };
  const cache: StepCache = {
    take: () => kept.pop(),
    keep: (_, one) => void kept.push(one),
    ...{ appeared: () => undefined, changed: () => undefined, made: () => {}, invalidate: () => {}, look },
  };
  const operatorOf: World["operatorOf"] = (kind) => {
    const operator = fixture.world.operatorOf(kind);
    return operator === undefined ? undefined : { ...operator, watched: () => [limbs] };
  };
  const world = { ...fixture.world, cache, operatorOf };
  await step(world, message);
  fixture.calls.length = 0;
  return { world, fixture };
};

const readsIn = ({ calls }: Fixture): readonly string[] => calls.filter((call) => /^(get|list|load)/.test(call));

/** Returns the requests of a step on the watch whose second plan is this one. */
const readsOf = async (second: Partial<ToyPlan>): Promise<readonly string[]> => {
  const { world, fixture } = await watching(function* ({ memory }) {
    yield* list(limbs);
    return memory === undefined ? { memory: { count: 1 }, stages: [] } : { memory, stages: [], ...second };
  });
  await step(world, watched);
  return readsIn(fixture);
};

describe("a plan on watched objects", () => {
  const right: readonly (readonly [does: string, plan: Partial<ToyPlan>])[] = [
    ["creates an object", { stages: [[creation("tail")]] }],
    [
      "patches an object",
      { stages: [[{ do: "patch", ref: refOf(parts, "arm"), uid: "a", resourceVersion: "1", patch: {} }]] },
    ],
    ["remembers something", { memory: { count: 2 } }],
    ["deletes a pod that has ended", { stages: [[removal("leg")]] }],
    ["deletes by its UID what is no pod", { stages: [[{ do: "delete", ref: refOf(parts, "arm"), uid: "arm-1" }]] }],
    ["changes nothing, although it is marked", { safety: { live: true } }],
  ];
  for (const [does, plan] of right)
    test(`is carried out at once if it ${does}`, async () => assert.deepEqual(await readsOf(plan), []));

  const again: readonly (readonly [does: string, plan: Partial<ToyPlan>])[] = [
    ["deletes a pod that runs", { stages: [[removal("arm")]] }],
    ["deletes a pod that the watch did not show", { stages: [[removal("tail")]] }],
    [
      "deletes an object as it was seen",
      { stages: [[{ do: "delete", ref: refOf(parts, "arm"), uid: "arm-1", resourceVersion: "5" }]] },
    ],
    ["evicts a pod", { stages: [[{ do: "evict", ref: refOf(pods, "leg"), uid: "leg-1" }]] }],
    ["forgets the record", { next: { do: "forget" } }],
    ["is marked, and changes the status", { status: { tail: 1 }, safety: { live: true } }],
    ["is marked", onLiveReads({ memory: { count: 2 }, stages: [], next: { do: "rest" } })],
  ];
  for (const [does, plan] of again)
    test(`is decided again on live reads if it ${does}`, async () =>
      assert.deepEqual((await readsOf(plan)).slice(0, 3), ["load", "get toys bear", "list pods"]));
});

describe("a second look", () => {
  const part: Listing = { ...limbs, labels: { ...limbs.labels, side: "left" } };
  const other: Listing = { ...limbs, labels: { side: "left" } };
  const rows: readonly (readonly [at: string, look: Looking, isCurrent: boolean, requests: readonly string[]])[] = [
    ["a part of the watched list needs no request", part, true, []],
    ["a part of it is live if the watch may be behind the record", part, false, ["list pods"]],
    ["a list that is no part of it is live", other, true, ["list pods"]],
    ["a pod that has ended needs no request", { do: "get", ref: refOf(pods, "leg") }, true, []],
    ["a pod that runs is live", { do: "get", ref: refOf(pods, "arm") }, true, ["get pods arm"]],
    [
      "an ended pod is live if the watch may be behind",
      { do: "get", ref: refOf(pods, "leg") },
      false,
      ["get pods leg"],
    ],
    ["an object of another kind is live", { do: "get", ref: refOf(parts, "leg") }, true, ["get parts leg"]],
  ];
  for (const [at, look, isCurrent, requests] of rows)
    test(`at ${at}`, async () => {
      const { world, fixture } = await watching(
        function* ({ memory }) {
          yield* list(limbs);
          yield* look.do === "list" ? list(look) : get(look);
          return { memory: memory ?? { count: 1 }, stages: [] };
        },
        { isCurrent },
      );
      await step(world, watched);
      assert.deepEqual(readsIn(fixture), requests);
    });
});
