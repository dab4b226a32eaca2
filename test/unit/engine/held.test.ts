/** A lasting trouble stands in the object's status, where its kind has a field for it, until a step succeeds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { conflict, creation, type Fixture, failing, message, openFixture, toy } from "./fakes.ts";

const heldUp = (status?: object): Fixture => {
  const world = openFixture(() => ({ memory: { count: 1 }, stages: [[creation("arm")]], status: { phase: "made" } }));
  world.put(toy({}, status));
  world.before = (call) => {
    if (call === "create parts arm") throw failing(403, "Forbidden");
  };
  return world;
};

const statusOf = (world: Fixture): unknown => world.objects.get("toys bear")?.["status"];

test("a lasting trouble stands in the object's status until a step succeeds", async () => {
  const world = heldUp({ phase: "" });
  await step(world.world, { ...message, tries: 1 });
  assert.deepEqual(statusOf(world), { phase: "" });
  await step(world.world, { ...message, tries: 2 });
  assert.deepEqual(statusOf(world), { phase: "", message: "Forbidden said so" });
  const patches = (): number => world.calls.filter((call) => call.startsWith("patch")).length;
  assert.equal(patches(), 1);
  await step(world.world, { ...message, tries: 3 });
  assert.equal(patches(), 1);
  world.before = () => {};
  await step(world.world, { ...message, tries: 4 });
  assert.deepEqual(statusOf(world), { phase: "made" });
});

test("the status write of a lasting trouble reports the samples of the state that it shows", async () => {
  const { world } = heldUp({ phase: "waits" });
  const told: string[] = [];
  const meter = (samples: readonly { readonly name: string }[]) => void told.push(...samples.map(({ name }) => name));
  await step({ ...world, meter }, { ...message, tries: 2 });
  assert.deepEqual(
    told.filter((name) => name === "waits"),
    ["waits"],
  );
});

test("a lasting trouble leaves an object alone whose kind has no status field for it", async () => {
  const world = heldUp();
  await step(world.world, { ...message, tries: 2 });
  assert.equal(world.calls.filter((call) => call.startsWith("patch")).length, 0);
});

test("a lasting trouble does not overwrite a status that changed in the meantime", async () => {
  const world = heldUp({ phase: "" });
  const before = world.before;
  world.before = (call) => {
    if (call.startsWith("patch")) throw conflict();
    return before(call);
  };
  assert.equal((await step(world.world, { ...message, tries: 2 })).did, "troubled");
});

for (const [call, status, want] of [
  ["create parts arm", { phase: "" }, "Cannot create Part: for Forbidden said so"],
  ["patch", { phase: "old" }, "Cannot status Toy: for Forbidden said so"],
] as const)
  test(`the Event of a lasting trouble has the kind's own text for the failed call: ${call}`, async () => {
    const world = heldUp(status);
    world.before = (one) => {
      if (one.startsWith(call)) throw failing(403, "Forbidden");
    };
    world.words = ({ doing, message }) =>
      doing && { reason: `Cannot ${doing.do} ${doing.kind}`, message: `for ${message}` };
    await step(world.world, { ...message, tries: 2 });
    const told = [...world.objects.values()].filter(({ kind }) => kind === "Event");
    assert.deepEqual(
      told.map(({ reason, message: said }) => `${reason}: ${said}`),
      [want],
    );
    assert.equal(world.record()?.trouble?.reason, "Forbidden");
  });
