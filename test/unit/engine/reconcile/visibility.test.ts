/** A message that names the version that its change replaces is taken when a read shows another one. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Message, Replaced } from "../../../../shared/core/key.ts";
import type { World } from "../../../../shared/engine/context/world.ts";
import { take } from "../../../../shared/engine/reconcile/intake.ts";
import { conflict, failing, message, openFixture, part } from "../fakes.ts";

const replaced = (more: Partial<Replaced> = {}): Replaced => ({
  ...{ group: "", version: "v1", plural: "parts", namespace: "ns", name: "p1", uid: "part-1", resourceVersion: "7" },
  ...more,
});

const { resourceVersion: _, ...created } = replaced();

const after = (...ones: readonly Replaced[]): Message => ({ ...message, after: ones });

const looking = "get parts p1";

/** A world with a part at version 7, and a clock that notes each pause. */
const opened = () => {
  const fixture = openFixture();
  const pauses: number[] = [];
  const at = (resourceVersion: string, uid = "part-1") =>
    fixture.objects.set("parts p1", { ...part("p1"), metadata: { ...part("p1").metadata, uid, resourceVersion } });
  at("7");
  const pause = async (ms: number): Promise<void> => {
    pauses.push(ms);
    fixture.time.monotonic += ms;
  };
  const world: World = { ...fixture.world, clock: { ...fixture.world.clock, pause } };
  const steps = (): number => fixture.calls.filter((call) => call.startsWith("load")).length;
  const looks = (): number => fixture.calls.filter((call) => call === looking).length;
  return { ...fixture, fixture, world, pauses, at, steps, looks };
};

describe("a message about a change", () => {
  const stored: readonly {
    name: string;
    change: Replaced;
    is: (at: ReturnType<typeof opened>) => void;
  }[] = [
    { name: "an object with a later version", change: replaced(), is: ({ at }) => at("8") },
    { name: "another object of the name", change: replaced(), is: ({ at }) => at("7", "part-2") },
    { name: "no object", change: replaced(), is: ({ objects }) => objects.delete("parts p1") },
    { name: "a created object", change: created, is: () => {} },
  ];
  for (const { name, change, is } of stored)
    test(`begins its step at once when the first look shows ${name}`, async () => {
      const run = opened();
      is(run);
      assert.equal((await take(run.world, [after(change)]))?.did, "step");
      assert.deepEqual([run.looks(), run.pauses, run.sent], [1, [], []]);
      assert.ok(run.calls.indexOf(looking) < run.calls.findIndex((call) => call.startsWith("load")));
    });

  test("waits until a look shows the change", async () => {
    const run = opened();
    run.fixture.before = (call) => {
      if (call === looking && run.pauses.length === 2) run.at("8");
    };
    assert.equal((await take(run.world, [after(replaced())]))?.did, "step");
    assert.deepEqual([run.pauses, run.sent], [[8, 17], []]);
  });

  test("waits for a creation", async () => {
    const run = opened();
    run.objects.delete("parts p1");
    run.fixture.before = (call) => {
      if (call === looking && run.pauses.length === 1) run.at("3");
    };
    assert.equal((await take(run.world, [after(created)]))?.did, "step");
    assert.deepEqual(run.pauses, [8]);
  });

  test("is put off for 1 s, then for 5 s, and then begins its step all the same", async () => {
    const run = opened();
    const delays: number[] = [];
    let next = after(replaced());
    for (let tries = 0; tries < 2; tries++) {
      assert.deepEqual(await take(run.world, [next]), { did: "nothing", why: "its change is not visible yet" });
      const sent = run.sent.at(-1);
      assert.ok(sent !== undefined);
      delays.push(sent.delayMs);
      assert.deepEqual(sent.message, { ...after(replaced()), looks: tries + 1 });
      next = sent.message;
    }
    assert.deepEqual([delays, run.steps()], [[1_000, 5_000], 0]);
    assert.ok(run.pauses.reduce((sum, ms) => sum + ms, 0) < 1_000);
    assert.equal((await take(run.world, [next]))?.did, "step");
    assert.deepEqual([run.sent.length, run.steps()], [2, 1]);
  });

  test("is put off under an id of its own each time: the queue drops no later one", async () => {
    const run = opened();
    for (const monotonic of [1_000, 2_000]) {
      run.time.monotonic = monotonic;
      await take(run.world, [after(replaced())]);
    }
    assert.equal(new Set(run.sent.map(({ id }) => id)).size, 2);
  });

  test("does not hold back other messages of its key", async () => {
    const run = opened();
    assert.equal((await take(run.world, [after(replaced()), { ...message, reason: "event" }]))?.did, "step");
    assert.deepEqual(
      run.sent.map((one) => one.message),
      [{ ...after(replaced()), looks: 1 }],
    );
  });

  test("that has been put off before waits on its own, and reads each object once a look", async () => {
    const run = opened();
    await take(run.world, [after(replaced()), { ...after(replaced({ resourceVersion: "7" })), looks: 1 }]);
    assert.deepEqual(
      run.sent.map((one) => [one.message.looks, one.delayMs]),
      [
        [1, 1_000],
        [2, 5_000],
      ],
    );
    assert.equal(run.looks(), 6);
  });

  test("begins its step when the object may not be read, or its kind is not served", async () => {
    for (const error of [failing(403, "Forbidden"), failing(404, "NotFound")]) {
      const run = opened();
      run.fixture.before = (call) => {
        if (call === looking) throw error;
      };
      assert.equal((await take(run.world, [after(replaced())]))?.did, "step");
      assert.deepEqual([run.looks(), run.sent], [1, []]);
    }
  });

  test("looks again after an answer that says nothing", async () => {
    for (const error of [failing(503, "ServiceUnavailable"), failing(429, "TooManyRequests"), failing(0, "Timeout")]) {
      const run = opened();
      run.at("8");
      run.fixture.before = (call) => {
        if (call === looking && run.pauses.length === 0) throw error;
      };
      assert.equal((await take(run.world, [after(replaced())]))?.did, "step");
      assert.equal(run.looks(), 2);
    }
  });

  test("whose step meets a trouble does not wait for the change again", async () => {
    const run = opened();
    run.at("8");
    run.fixture.before = (call) => {
      if (call.startsWith("load")) throw failing(503, "ServiceUnavailable");
    };
    assert.equal((await take(run.world, [after(replaced())]))?.did, "troubled");
    assert.equal(run.sent.at(-1)?.message.after, undefined);
  });

  test("is delivered again when it cannot be put off", async () => {
    const run = opened();
    const queue = { ...run.world.queue, sendLater: () => Promise.reject(conflict()) };
    assert.equal(await take({ ...run.world, queue }, [after(replaced())]), undefined);
    assert.equal(run.steps(), 0);
  });

  test("in a process whose clock does not pause is looked at once, and put off", async () => {
    const run = opened();
    await take(run.fixture.world, [after(replaced())]);
    assert.deepEqual([run.looks(), run.sent.length], [1, 1]);
  });
});
