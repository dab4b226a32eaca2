/** Random values: the engine adds them when it creates an object, and never twice. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Effect } from "../../../shared/core/plan.ts";
import { apply } from "../../../shared/engine/cluster/apply.ts";
import type { Chance } from "../../../shared/engine/ports.ts";
import { creation, eight, type Fixture, openFixture, part, parts, refOf } from "./fakes.ts";

const drawn: Chance = async () => ({ id_rsa: "drawn" });

const handsOf = (world: Fixture, chance?: Chance) => ({
  cluster: world.world.cluster,
  clock: world.world.clock,
  until: Number.POSITIVE_INFINITY,
  now: eight,
  chance,
});

const plain = creation("arm");
const secret: Effect =
  plain.do === "create" ? { ...plain, object: { ...plain.object, data: { config: "told" } }, fresh: "ssh-key" } : plain;

const dataOf = async (world: Fixture): Promise<unknown> =>
  (await world.world.cluster.get(refOf(parts, "arm"))).value?.["data"];

describe("a random value of a created object", () => {
  test("stands beside the planned data", async () => {
    const world = openFixture();
    assert.equal((await apply(handsOf(world, drawn), secret)).did, "done");
    assert.deepEqual(await dataOf(world), { config: "told", id_rsa: "drawn" });
  });

  test("is not drawn again if the object exists", async () => {
    const world = openFixture();
    world.put({ ...part("arm"), data: { id_rsa: "first" } });
    assert.equal((await apply(handsOf(world, drawn), secret)).did, "done");
    assert.deepEqual(await dataOf(world), { id_rsa: "first" });
  });

  test("prevents the creation if the process has no source of random values", async () => {
    const world = openFixture();
    assert.equal((await apply(handsOf(world), secret)).did, "troubled");
    assert.equal(await dataOf(world), undefined);
  });
});
