/** Bodies of created objects: a plan holds none; each is built when it is sent, within the time limit of a decision. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BudgetError } from "../../../shared/core/http.ts";
import type { Obj } from "../../../shared/core/object.ts";
import type { Effect } from "../../../shared/core/plan.ts";
import { applyStage } from "../../../shared/engine/cluster/apply.ts";
import type { Within } from "../../../shared/engine/cluster/queries.ts";
import { pods } from "../../../shared/kube/resources.ts";
import { openFixture } from "./fakes.ts";

const count = 100;
const parallel = 8;
const fenceMs = 5_000;

/**
 * Returns creations of `count` pods; `alive` counts the bodies that were built and whose request is not answered yet.
 */
const creations = () => {
  const alive = { now: 0, most: 0, made: 0 };
  const effects = Array.from({ length: count }, (_, at): Effect => {
    const object: Obj = { apiVersion: "v1", kind: "Pod", metadata: { name: `pod-${at}`, namespace: "ns" } };
    const body = (): Obj => {
      alive.made += 1;
      alive.now += 1;
      alive.most = Math.max(alive.most, alive.now);
      return { ...object, spec: { containers: [] } };
    };
    return { do: "create", object, body, resource: pods, owner: "uid" };
  });
  return { alive, effects };
};

type Making = (time: { monotonic: number }) => Within;

const applied = async (effects: readonly Effect[], alive: { now: number }, making?: Making) => {
  const { world, time, objects } = openFixture();
  const { create } = world.cluster;
  const cluster: typeof world.cluster = {
    ...world.cluster,
    create: async (ref, object) => {
      await new Promise((resolve) => setImmediate(resolve));
      alive.now -= 1;
      return await create(ref, object);
    },
  };
  const context = {
    cluster,
    clock: world.clock,
    until: time.monotonic + fenceMs,
    now: time.now,
    within: making?.(time),
  };
  return { results: await applyStage(context, effects, parallel), objects };
};

describe("bodies of a stage's objects", () => {
  test("are built one by one when they are sent, never more than requests in flight", async () => {
    const { alive, effects } = creations();
    const { results, objects } = await applied(effects, alive);
    assert.ok(results.every(({ did }) => did === "done"));
    assert.deepEqual([alive.made, alive.most], [count, parallel]);
    assert.ok([...objects.values()].filter(({ kind }) => kind === "Pod").every((pod) => "spec" in pod));
  });

  test("are built within a decision's time limit; a stopped one makes its effect end in trouble", async () => {
    const { alive, effects } = creations();
    const stop: Making = () => () => {
      throw new BudgetError({ message: "took too long", waitMs: 10_000, why: "stopped" });
    };
    const { results } = await applied(effects.slice(0, 1), alive, stop);
    const [result] = results;
    assert.ok(result?.did === "troubled");
    assert.deepEqual([result.trouble.reason, result.trouble.retryAfterMs], ["Quarantined", 10_000]);
    assert.equal(alive.made, 0);
  });

  test("are not sent if they waited for their turn until the fence passed: the effect ends as Late", async () => {
    const { alive, effects } = creations();
    const waits: Making = (time) => (work) => {
      time.monotonic += fenceMs + 1;
      return work();
    };
    const { results, objects } = await applied(effects.slice(0, 1), alive, waits);
    const [result] = results;
    assert.ok(result?.did === "troubled");
    assert.equal(result.trouble.reason, "Late");
    assert.ok([...objects.values()].every(({ kind }) => kind !== "Pod"));
  });
});
