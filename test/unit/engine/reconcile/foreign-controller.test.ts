/** Objects whose `spec.managedBy` names another controller. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { creation, failing, message, openFixture, toy, writesIn } from "../fakes.ts";

const managed = (managedBy: unknown) => ({ ...toy(), spec: { managedBy } });

const making = () => openFixture(() => ({ memory: { count: 1 }, stages: [[creation("arm")]] }));

describe("an object that another controller manages", () => {
  test("is told by one event when it is first seen, and nothing is saved or requeued", async () => {
    const world = making();
    world.put(managed("kueue.x-k8s.io/multikueue"));
    const ending = await step(world.world, { ...message, fresh: true });
    assert.deepEqual(ending, { did: "nothing", why: "managed by kueue.x-k8s.io/multikueue" });
    const [event, ...others] = writesIn(world.calls);
    assert.match(event ?? "", /^create events /);
    assert.deepEqual([others, world.sent, world.record()], [[], [], undefined]);
  });

  test("is left alone although its event is refused", async () => {
    const world = making();
    world.put(managed("kueue.x-k8s.io/multikueue"));
    world.before = (call) => {
      if (call.startsWith("create events")) throw failing(403, "Forbidden");
    };
    const ending = await step(world.world, { ...message, fresh: true });
    assert.deepEqual([ending.did, world.sent], ["nothing", []]);
  });

  test("gets no event in shadow mode", async () => {
    const world = making();
    world.put(managed("kueue.x-k8s.io/multikueue"));
    await step({ ...world.world, shadow: () => {} }, { ...message, fresh: true });
    assert.deepEqual(writesIn(world.calls), []);
  });

  for (const own of ["toys.example/toy-controller", "rekindle.dev/controller", "", 7, undefined])
    test(`is Rekindle's own if the field is ${JSON.stringify(own)}`, async () => {
      const world = making();
      world.put(managed(own));
      await step(world.world, { ...message, fresh: true });
      assert.ok(world.objects.has("parts arm"));
    });
});
