/** A save is told in the record at its own time, although its step stood still after its first read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../../../shared/core/http.ts";
import { marksOf } from "../../../../shared/core/marks.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { creation, type Fixture, message, openFixture, toy } from "../fakes.ts";

const minutes = 600_000;

/** The seconds by which the last save of the record was later than the beginning of the test. */
const toldAfter = (world: Fixture, began: number): number =>
  ((world.record()?.timeline?.saves ?? []).at(-1) ?? Number.NaN) - began / 1_000;

/** Lets this time pass after the first save, on both clocks; then the server refuses the part. */
const troubled = async (ms: number): Promise<{ readonly world: Fixture; readonly began: number }> => {
  const world = openFixture(() => ({ memory: { count: 1 }, stages: [[creation("arm")]] }));
  const began = world.time.now;
  world.after = (call) => {
    if (call !== "save 1") return;
    world.time.now += ms;
    world.time.monotonic += ms;
  };
  world.before = (call) => {
    if (call.startsWith("create parts")) throw new ApiError({ status: 500, reason: "InternalError", message: "no" });
  };
  await step(world.world, { ...message, tries: 2 });
  return { world, began };
};

test("the save of a decision is told at its time", async () => {
  const world = openFixture(() => {
    world.time.now += minutes;
    world.time.monotonic += minutes;
    return { memory: { count: 1 }, stages: [] };
  });
  const began = world.time.now;
  await step(world.world, message);
  assert.equal(toldAfter(world, began), minutes / 1_000);
});

test("the save of a trouble is told at its time", async () => {
  const { world, began } = await troubled(8_000);
  assert.equal(world.record()?.trouble?.reason, "InternalError");
  assert.equal(toldAfter(world, began), 8);
});

test("a trouble of a step that stood still for minutes is not published, and the key is tried again", async () => {
  const { world, began } = await troubled(minutes);
  assert.equal(world.record()?.trouble, undefined);
  assert.equal(toldAfter(world, began), 0);
  assert.equal(world.sent.length, 1);
});

test("a first read that takes long does not put the save into the future", async () => {
  const world = openFixture(() => ({ memory: { count: 1 }, stages: [] }));
  const began = world.time.now;
  let stood = false;
  world.before = (call) => {
    if (stood || !call.startsWith("get")) return;
    stood = true;
    world.time.now += minutes;
    world.time.monotonic += minutes;
  };
  await step(world.world, message);
  assert.equal(toldAfter(world, began), minutes / 1_000);
});

/** A world at rest whose object has these annotations, and the number of its saves after one more step. */
const atRest = async () => {
  const world = openFixture(() => ({ memory: { count: 1 }, stages: [], next: { do: "rest" } }));
  await step(world.world, message);
  const { generation, ...metadata } = toy().metadata;
  const annotate = (annotations: Readonly<Record<string, string>>) =>
    world.objects.set("toys bear", { ...toy(), metadata: { ...metadata, generation: generation ?? 1, annotations } });
  const saves = async (): Promise<number | undefined> => {
    await step(world.world, message);
    return world.record()?.saves;
  };
  return { world, annotate, saves };
};

test("a record at rest keeps the digest of labels and annotations, and follows them with one save", async () => {
  const { world, annotate, saves } = await atRest();
  assert.equal(world.record()?.marks, marksOf(toy().metadata));
  assert.equal(await saves(), 1);
  annotate({ a: "1" });
  assert.equal(await saves(), 2);
  assert.equal(world.record()?.marks, marksOf({ name: "bear", annotations: { a: "1" } }));
  assert.equal(await saves(), 2);
});

test("a record at rest of a version without the digest is not saved for it alone", async () => {
  const { world, annotate, saves } = await atRest();
  const loaded = await world.checkpoints.load(message);
  const { marks: _, ...record } = world.record() ?? assert.fail("no record");
  await world.checkpoints.save(message, record, loaded?.version);
  annotate({ a: "1" });
  assert.equal(await saves(), 1);
});

test("a record that does not rest keeps no digest", async () => {
  const world = openFixture(() => ({ memory: { count: 1 }, stages: [] }));
  await step(world.world, message);
  assert.equal(world.record()?.marks, undefined);
});

test("a record that rests again after a trouble keeps the digest", async () => {
  const world = openFixture(() => ({ memory: { count: 1 }, stages: [[creation("arm")]], next: { do: "rest" } }));
  let fails = true;
  world.before = (call) => {
    if (fails && call.startsWith("create parts"))
      throw new ApiError({ status: 500, reason: "InternalError", message: "no" });
  };
  await step(world.world, { ...message, tries: 2 });
  assert.deepEqual([world.record()?.rests, world.record()?.trouble?.reason], [undefined, "InternalError"]);
  fails = false;
  await step(world.world, message);
  assert.deepEqual([world.record()?.rests, world.record()?.marks], [true, marksOf(toy().metadata)]);
});
