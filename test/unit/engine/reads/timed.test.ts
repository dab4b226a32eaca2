/**
 * A timer whose plan was replaced by one that wants none: the step reads the record alone. A timer that may still be
 * wanted leads to a whole step.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Message } from "../../../../shared/core/key.ts";
import type { Next } from "../../../../shared/core/plan.ts";
import type { CheckpointRecord } from "../../../../shared/engine/ports.ts";
import { merged } from "../../../../shared/engine/reconcile/intake.ts";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { eight, type Fixture, message, openFixture, toy } from "../fakes.ts";

const timer: Message = { ...message, reason: "timer" };

/** A toy whose next step is decided by this memory and ends like this. */
const following = (next: Next, count = 1): Fixture => openFixture(() => ({ memory: { count }, stages: [], next }));

/** A toy with the record of one step, whose calls are forgotten. */
const recorded = async (next: Next): Promise<Fixture> => {
  const fixture = following(next);
  await step(fixture.world, message);
  fixture.calls.length = 0;
  fixture.sent.length = 0;
  return fixture;
};

const isWhole = ({ calls }: Fixture): boolean => calls.includes("get toys bear");

describe("a timer reads the record alone", () => {
  const quiet: readonly Next[] = [{ do: "rest" }, { do: "wait" }];
  for (const next of quiet)
    test(`when the plan that replaced the timer's own plan says ${next.do}, without a time`, async () => {
      const fixture = await recorded(next);
      const ending = await step(fixture.world, timer);
      assert.deepEqual([ending.did, fixture.calls, fixture.sent], ["nothing", ["load"], []]);
    });

  for (const next of quiet)
    test(`when a timer began the step whose plan says ${next.do}, without anything to do after its save`, async () => {
      const fixture = following(next);
      await step(fixture.world, timer);
      fixture.calls.length = 0;
      await step(fixture.world, timer);
      assert.deepEqual(fixture.calls, ["load"]);
    });
});

describe("a timer leads to a whole step", () => {
  const wanted: readonly Next[] = [
    { do: "wait", wakeAt: eight + 60_000 },
    { do: "wait", pollMs: 15_000 },
    { do: "again" },
  ];
  for (const next of wanted)
    test(`when the plan says ${JSON.stringify(next)}`, async () => {
      const fixture = await recorded(next);
      await step(fixture.world, timer);
      assert.ok(isWhole(fixture));
    });

  for (const next of [{ do: "wait" }, { do: "rest" }] as const)
    test(`when a timer began the step whose plan says ${next.do} and writes a status, as the same timer comes again after a death`, async () => {
      const fixture = openFixture(() => ({ memory: { count: 1 }, stages: [], status: { count: 1 }, next }));
      await step(fixture.world, timer);
      fixture.calls.length = 0;
      await step(fixture.world, timer);
      assert.ok(isWhole(fixture));
    });

  test("when the key has no record", async () => {
    const fixture = following({ do: "wait" });
    await step(fixture.world, timer);
    assert.ok(isWhole(fixture));
  });

  const at = { since: eight, until: eight };
  const outbox = {
    stream: "s",
    to: "https://listener.example/",
    entries: [{ state: "A", attempt: 1, terminal: false, sequence: 1, uid: "toy-1", at: eight }],
  };
  const more: readonly (readonly [string, Partial<CheckpointRecord>])[] = [
    ["has a trouble", { trouble: { reason: "Gone", message: "m", since: eight } }],
    ["has a recovery window", { returning: at }],
    ["holds an order to end everything", { cleanup: { since: eight, graceSeconds: 1, forceAt: eight } }],
    ["has an update to deliver", { outbox }],
    ["was made in another cluster", { cluster: "cluster-2" }],
  ];
  for (const [what, fields] of more)
    test(`when the record ${what}`, async () => {
      const fixture = await recorded({ do: "wait" });
      const kept = fixture.record() ?? assert.fail("no record");
      const loaded = await fixture.checkpoints.load(message);
      await fixture.checkpoints.save(message, { ...kept, ...fields }, loaded?.version);
      await step(fixture.world, timer);
      assert.ok(isWhole(fixture));
    });

  test("when another message of its key is in the batch", () => {
    const event: Message = { ...message, reason: "Pod a changed" };
    assert.equal(merged([event, timer]).reason, "Pod a changed");
    assert.equal(merged([timer, timer]).reason, "timer");
  });

  test("when it belongs to a delivery, whose acknowledgements come in the same batch", () => {
    const own = { ...message, kind: "updates.Toy" };
    assert.equal(
      merged([
        { ...own, reason: "acknowledged s/1" },
        { ...own, reason: "timer" },
      ]).reason,
      "timer",
    );
  });
});

describe("a record", () => {
  const next: { now: Next } = { now: { do: "wait", wakeAt: eight + 60_000 } };
  const opened = (): Fixture => openFixture(() => ({ memory: { count: 1 }, stages: [], next: next.now }));

  test("is saved when a plan begins to wait for a timer, although nothing else changes", async () => {
    next.now = { do: "wait" };
    const fixture = opened();
    await step(fixture.world, message);
    next.now = { do: "wait", pollMs: 15_000 };
    await step(fixture.world, message);
    assert.deepEqual([fixture.record()?.saves, fixture.record()?.untimed], [2, undefined]);
    await step(fixture.world, timer);
    assert.ok(fixture.calls.slice(-3).includes("get toys bear"));
  });

  test("is not saved when a plan no longer waits for a timer and nothing else changes", async () => {
    next.now = { do: "wait", pollMs: 15_000 };
    const fixture = opened();
    await step(fixture.world, message);
    next.now = { do: "wait" };
    await step(fixture.world, message);
    assert.equal(fixture.record()?.saves, 1);
  });
});

test("a step that an outdated timer began leaves the process's cache as it was", async () => {
  const fixture = openFixture(() => ({
    memory: { count: 1 },
    stages: [],
    next: { do: "wait" },
  }));
  const { world } = fixture;
  fixture.put(toy({}));
  const cache: NonNullable<typeof world.cache> = {
    take: () => {
      const found = held;
      held = undefined;
      return found;
    },
    keep: (_, entry) => {
      held = entry;
    },
    ...{
      appeared: () => undefined,
      changed: () => undefined,
      made: () => {},
      invalidate: () => {},
      look: () => undefined,
    },
  };
  let held: ReturnType<typeof cache.take>;
  const operatorOf: typeof world.operatorOf = (kind) => {
    const operator = world.operatorOf(kind);
    return operator === undefined ? undefined : { ...operator, watched: () => [] };
  };
  await step({ ...world, cache, operatorOf }, message);
  const before = held ?? assert.fail("nothing is kept");
  await step({ ...world, cache }, timer);
  assert.equal(held, before);
});
