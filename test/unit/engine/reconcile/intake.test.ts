/**
 * Intake: messages of a queue become steps; a delivery that is no message is dropped, and one that never succeeds is
 * given up.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Delivered, intake } from "../../../../shared/engine/reconcile/intake.ts";
import { message, openFixture, toy } from "../fakes.ts";

const alone = "alone: its steps did not finish";

const delivered = (more: Partial<Delivered> = {}, text: object = {}): Delivered => ({
  id: "m1",
  received: 1,
  body: JSON.stringify({ ...message, ...text }),
  ...more,
});

/** A toy whose steps rest. */
const settled = () => openFixture(() => ({ memory: { count: 1 }, stages: [], next: { do: "rest" } }));

describe("a delivery", () => {
  test("of a message becomes a step", async () => {
    const { world, record } = settled();
    assert.deepEqual(await intake(world, [delivered()]), []);
    assert.deepEqual(record()?.memory, { count: 1 });
  });

  const poison = [
    { name: "without JSON", body: "{" },
    { name: "of another version's message", body: JSON.stringify({ v: 2, keys: ["ns/bear"] }) },
    { name: "of another application's JSON", body: '{"Type":"Notification","Message":"hello"}' },
    { name: "of a delayed message on the wrong queue", body: JSON.stringify({ message, id: "t" }) },
    { name: "of a megabyte", body: JSON.stringify({ ...message, extra: "x".repeat(1_000_000) }) },
    { name: "without text", body: "" },
  ];
  for (const { name, body } of poison) {
    test(`${name} is logged once without its text, acknowledged, and does not affect the other messages`, async () => {
      const { world, lines, record } = settled();
      assert.deepEqual(await intake(world, [delivered({ id: "bad", body }), delivered()]), []);
      const told = lines.filter(({ level }) => level === "error");
      assert.deepEqual(told, [
        {
          level: "error",
          message: "dropped a message that is not Rekindle's",
          fields: { id: "bad", characters: body.length },
        },
      ]);
      assert.deepEqual(record()?.memory, { count: 1 });
    });
  }

  test("of a key out of scope is acknowledged without a request", async () => {
    const { world, calls } = settled();
    assert.deepEqual(await intake({ ...world, inCharge: () => false }, [delivered()]), []);
    assert.deepEqual(calls, []);
  });
});

describe("two versions of Rekindle on one queue", () => {
  const newer = { schema: 2, cluster: "c", kind: "Toy", name: "bear", keys: ["another form"] };

  test("leave the later version's message for it, log that, and take the other messages", async () => {
    const { world, lines, record, sent } = settled();
    const theirs = delivered({ id: "theirs", body: JSON.stringify(newer), received: 9 });
    assert.deepEqual(await intake(world, [theirs, delivered()]), ["theirs"]);
    assert.deepEqual([record()?.memory, sent], [{ count: 1 }, []]);
    assert.deepEqual(
      lines.filter(({ level }) => level !== "debug" && level !== "info"),
      [{ level: "warn", message: "left a message for the newer Rekindle that sent it", fields: { id: "theirs" } }],
    );
  });

  test("take the earlier version's message, and ignore hints that they do not know yet", async () => {
    const { world, record } = settled();
    assert.deepEqual(await intake(world, [delivered({}, { hint: "of the next minor version" })]), []);
    assert.deepEqual(record()?.memory, { count: 1 });
  });
});

describe("a message that is delivered again and again", () => {
  test("is replaced at its fourth delivery by a message for its key alone; others are taken", async () => {
    const { world, sent, calls, put } = settled();
    put(toy({ name: "cat", uid: "toy-2" }));
    const neighbour = delivered({ id: "m2" }, { name: "cat" });
    assert.deepEqual(await intake(world, [delivered({ received: 4 }), neighbour]), []);
    const [again] = sent;
    assert.deepEqual(again?.message, { ...message, reason: alone });
    assert.ok(again !== undefined && again.delayMs >= 1_000 && again.delayMs <= 17_000);
    assert.ok(!calls.some((call) => call.includes("bear")) && calls.some((call) => call.includes("cat")));
  });

  test("is begun three times more when it is alone", async () => {
    const { world, record } = settled();
    assert.deepEqual(await intake(world, [delivered({ received: 3 }, { reason: alone })]), []);
    assert.deepEqual(record()?.memory, { count: 1 });
  });

  test("is given up when it fails alone, too; an Event and the record report that", async () => {
    const { world, record, objects, lines } = settled();
    await intake(world, [delivered()]);
    assert.equal(record()?.rests, true);
    assert.deepEqual(await intake(world, [delivered({ received: 4 }, { reason: alone })]), []);
    assert.equal(record()?.trouble?.reason, "StepsFailed");
    assert.equal(record()?.rests, undefined);
    const events = [...objects.values()].filter(({ kind }) => kind === "Event");
    assert.deepEqual(
      events.map((event) => [event["type"], event["reason"]]),
      [["Warning", "StepsFailed"]],
    );
    assert.equal(lines.filter(({ level }) => level === "error").length, 1);
  });

  test("is reported once if it was given up before", async () => {
    const { world, calls } = settled();
    await intake(world, [delivered()]);
    const again = [delivered({ received: 4 }, { reason: alone })];
    await intake(world, again);
    const before = calls.length;
    await intake(world, again);
    assert.deepEqual(
      calls.slice(before).filter((call) => /^(save|create|patch|remove)/.test(call)),
      [],
    );
  });

  test("takes the other messages of its key with it", async () => {
    const { world, sent } = settled();
    const batch = [delivered({ received: 5 }), delivered({ id: "m2", received: 1 })];
    assert.deepEqual(await intake(world, batch), []);
    assert.equal(sent.length, 1);
  });

  test("is given up at once if the queue does not take its replacement", async () => {
    const { world, record } = settled();
    await intake(world, [delivered()]);
    const queue = { ...world.queue, sendLater: () => Promise.reject(new Error("no permission: allow sqs:…")) };
    assert.deepEqual(await intake({ ...world, queue }, [delivered({ received: 4 })]), []);
    assert.match(record()?.trouble?.message ?? "", /begun 4 times in a row.*: no permission: allow sqs:…$/);
  });

  test("is returned for another delivery if it can neither be replaced nor given up", async () => {
    const world = settled();
    const queue = { ...world.world.queue, sendLater: () => Promise.reject(new Error("AccessDenied")) };
    world.before = () => {
      throw new Error("no server");
    };
    assert.deepEqual(await intake({ ...world.world, queue }, [delivered({ received: 4 })]), ["m1"]);
  });

  test("is acknowledged if its key's object is gone", async () => {
    const { world, objects } = settled();
    objects.clear();
    assert.deepEqual(await intake(world, [delivered({ received: 4 }, { reason: alone })]), []);
  });
});
