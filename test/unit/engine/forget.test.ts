/** The end of a record: it is deleted when its memory is settled, and the next object of the name begins afresh. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { step } from "../../../shared/engine/reconcile/step.ts";
import { message, openFixture, type ToyPlan, toy } from "./fakes.ts";

describe("the end of a record", () => {
  const forgetting: ToyPlan = { memory: { count: 0 }, stages: [], next: { do: "forget" } };

  test("deletes the record when the plan says forget", async () => {
    const world = openFixture();
    await step(world.world, message);
    world.objects.delete("toys bear");
    world.decide = () => forgetting;
    assert.deepEqual(await step(world.world, message), { did: "step", writes: 1 });
    assert.equal(world.record(), undefined);
    assert.deepEqual(world.sent, []);
  });

  test("does not delete a record that another step saved in the meantime", async () => {
    const world = openFixture();
    await step(world.world, message);
    world.objects.delete("toys bear");
    world.decide = () => forgetting;
    world.before = async (call) => {
      const loaded = await world.checkpoints.load(message);
      if (call.startsWith("drop") && world.record()?.saves === 1)
        await world.checkpoints.save(
          message,
          { ...world.record(), schema: 1, cluster: "cluster-1", uid: "toy-1", saves: 2, memory: { count: 5 } },
          loaded?.version,
        );
    };
    assert.deepEqual(await step(world.world, message), { did: "raced" });
    assert.deepEqual(world.record()?.memory, { count: 5 });
  });

  test("comes before the first step of a new object with the same name", async () => {
    const world = openFixture();
    await step(world.world, message);
    world.put(toy({ uid: "toy-2" }));
    const seen: unknown[] = [];
    world.decide = ({ object, uid, memory }) => {
      seen.push([object?.metadata.uid, uid, memory]);
      return object === undefined ? forgetting : { memory: { count: 3 }, stages: [] };
    };
    await step(world.world, message);
    assert.deepEqual([world.record(), world.sent.map((sent) => sent.message.reason)], [undefined, ["again"]]);
    await step(world.world, message);
    assert.deepEqual(seen, [
      [undefined, "toy-1", { count: 0 }],
      ["toy-2", "toy-2", undefined],
    ]);
    assert.equal(world.record()?.uid, "toy-2");
  });

  test("belongs to the deployment in whose scope the deleted object's labels were", async () => {
    const world = openFixture();
    world.put(toy({ labels: { team: "a" } }));
    await step(world.world, message);
    world.objects.delete("toys bear");
    world.decide = () => forgetting;
    const chargeOf = (team: string) => (_: unknown, labels: Readonly<Record<string, string>> | undefined) =>
      labels === undefined || labels["team"] === team;
    assert.equal((await step({ ...world.world, inCharge: chargeOf("b") }, message)).did, "nothing");
    assert.notEqual(world.record(), undefined);
    assert.equal((await step({ ...world.world, inCharge: chargeOf("a") }, message)).did, "step");
    assert.equal(world.record(), undefined);
  });
});
