/** Requeues: growing backoff, waits that the server asked for, trouble that is reported, timers that are never lost. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { get, list } from "../../../../shared/core/decision.ts";
import type { Next, Wait } from "../../../../shared/core/plan.ts";
import { until } from "../../../../shared/core/waiting-on.ts";

import { step } from "../../../../shared/engine/reconcile/step.ts";
import {
  creation,
  eight,
  type Fixture,
  failing,
  message,
  openFixture,
  parts,
  type ToyPlan,
  toy,
  writesIn,
} from "../fakes.ts";

const making: ToyPlan = { memory: { count: 1 }, stages: [[creation("arm")]] };

const refusing = (world: Fixture, call: string, ...answer: Parameters<typeof failing>): void => {
  world.before = (name) => {
    if (name === call) throw failing(...answer);
  };
};

const last = (world: Fixture) => world.sent[world.sent.length - 1];

/** Takes `times` steps of the key, each with the message that the one before sent. */
const retries = async (world: Fixture, times: number): Promise<void> => {
  await step(world.world, message);
  for (let done = 1; done < times; done++) await step(world.world, last(world)?.message ?? message);
};

describe("a step in trouble", () => {
  test("comes back with growing delays, acknowledges every message, and never fails the application", async () => {
    const world = openFixture(() => making);
    refusing(world, "create parts arm", 503, "ServiceUnavailable");
    await retries(world, 12);
    const delays = world.sent.map((sent) => sent.delayMs);
    const wanted = [1, 2, 4, 8, 16, 32, 64, 128].map((seconds) => [seconds * 1_000, seconds * 1_250]);
    for (const [index, delay = 0] of delays.entries()) {
      const [least = 150_000, most = 450_000] = wanted[index] ?? [];
      assert.ok(delay >= least && delay <= most, `${index}: ${delay} in ${least} to ${most}`);
    }
    assert.deepEqual([world.sent.length, last(world)?.message.tries, world.record()?.memory], [12, 12, { count: 1 }]);
  });

  const asked = [
    { name: "waits as long as Retry-After says", tries: 0, retryAfterMs: 40_000, least: 40_000 },
    { name: "waits for the backoff if that is longer", tries: 6, retryAfterMs: 1_000, least: 64_000 },
    {
      name: "never waits longer than the queue can hold a message",
      tries: 0,
      retryAfterMs: 86_400_000,
      least: 900_000,
    },
  ];
  for (const { name, tries, retryAfterMs, least } of asked) {
    test(name, async () => {
      const world = openFixture(() => making);
      refusing(world, "create parts arm", 429, "TooManyRequests", retryAfterMs);
      await step(world.world, { ...message, tries });
      const { delayMs = 0 } = last(world) ?? {};
      assert.ok(delayMs >= least && delayMs <= Math.min(900_000, least * 1.25), `${delayMs}`);
    });
  }

  test("waits for the longest of several requested waits", async () => {
    const world = openFixture(() => ({ memory: { count: 1 }, stages: [[creation("arm"), creation("leg")]] }));
    world.before = (call) => {
      if (call === "create parts arm") throw failing(500, "InternalError");
      if (call === "create parts leg") throw failing(429, "TooManyRequests", 30_000);
    };
    assert.ok((await step(world.world, message)).did === "troubled");
    assert.ok((last(world)?.delayMs ?? 0) >= 30_000);
  });

  const places = ["load", "get toys bear", "list toys", "save 1", "create parts arm", "patch toys bear"];
  for (const place of places) {
    test(`comes back if the call that failed is ${place}`, async () => {
      const world = openFixture(function* () {
        yield* list({
          do: "list",
          resource: { group: "", version: "v1", plural: "toys", kind: "Toy" },
          namespace: "ns",
          labels: {},
        });
        return { ...making, status: { phase: "made" } };
      });
      refusing(world, place, 500, "InternalServerError");
      assert.equal((await step(world.world, message)).did, "troubled");
      assert.deepEqual([last(world)?.message.reason, last(world)?.message.tries], ["retry", 1]);
    });
  }

  test("comes back after a fault of Rekindle, whose stack trace is only in the log", async () => {
    const world = openFixture(() => {
      throw new TypeError("count of undefined");
    });
    const ending = await step(world.world, { ...message, tries: 4 });
    assert.deepEqual(ending, { did: "troubled", reason: "RekindleFault", message: "count of undefined" });
    assert.ok((last(world)?.delayMs ?? 0) >= 16_000);
    assert.match(
      String(world.lines.find(({ message: text }) => text === "a step failed")?.fields["error"]),
      /\n\s+at /,
    );
    assert.equal(
      [...world.objects.values()].some((object) => String(object["message"]).includes("\n")),
      false,
    );
  });

  test("comes back after a decision that never returns a plan, and does not loop", async () => {
    const world = openFixture(function* () {
      for (let round = 0; ; round++)
        yield* list({ do: "list", resource: parts, namespace: "ns", labels: { round: `${round}` } });
    });
    assert.equal((await step(world.world, message)).did, "troubled");
    assert.equal(world.calls.filter((call) => call === "list parts").length, 32);
  });

  test("leaves its message unacknowledged only if the queue fails, too", async () => {
    const world = openFixture(() => making);
    world.before = (call) => {
      if (call === "get toys bear" || call === "sendLater") throw failing(500, "InternalError");
    };
    await assert.rejects(step(world.world, message));
  });
});

describe("a lasting trouble", () => {
  const eventsOf = (world: Fixture): readonly string[] =>
    world.calls.filter((call) => call.startsWith("create events"));

  test("is one Event, and stays in the record until a step succeeds", async () => {
    const world = openFixture(() => making);
    refusing(world, "create parts arm", 403, "Forbidden");
    await retries(world, 2);
    assert.deepEqual([eventsOf(world).length, world.record()?.trouble], [0, undefined]);
    await step(world.world, last(world)?.message ?? message);
    const told = { reason: "Forbidden", message: "Forbidden said so", since: eight };
    assert.deepEqual([eventsOf(world).length, world.record()?.trouble], [1, told]);
    world.time.now += 60_000;
    for (let more = 0; more < 3; more++) await step(world.world, last(world)?.message ?? message);
    assert.deepEqual([eventsOf(world).length, world.record()?.trouble], [1, told]);
    world.before = () => {};
    await step(world.world, last(world)?.message ?? message);
    assert.deepEqual([world.record()?.trouble, world.record()?.memory], [undefined, { count: 1 }]);
  });

  test("is recorded if a read meets it, too", async () => {
    const world = openFixture();
    await step(world.world, message);
    world.decide = function* () {
      yield* get({ do: "get", ref: { resource: parts, name: "arm" } });
      return making;
    };
    refusing(world, "get parts arm", 403, "Forbidden");
    await step(world.world, { ...message, tries: 2 });
    assert.equal(world.record()?.trouble?.reason, "Forbidden");
  });

  test("is recorded again if its reason changes, since its first instant", async () => {
    const world = openFixture(() => making);
    refusing(world, "create parts arm", 403, "Forbidden");
    await step(world.world, { ...message, tries: 2 });
    world.time.now += 60_000;
    refusing(world, "create parts arm", 500, "InternalError");
    await step(world.world, { ...message, tries: 3 });
    assert.deepEqual([world.record()?.trouble?.reason, world.record()?.trouble?.since], ["InternalError", eight]);
  });

  test("starts no second chain of retries beside the first, whichever process takes the step", async () => {
    const world = openFixture(() => making);
    refusing(world, "create parts arm", 403, "Forbidden");
    await step(world.world, { ...message, tries: 2 });
    world.sent.length = 0;
    for (const [later, monotonic] of [
      [600_000, 5],
      [610_000, 7_000_000],
    ] as const) {
      Object.assign(world.time, { now: eight + later, monotonic });
      await step(world.world, { ...message, reason: "event" });
    }
    assert.equal(new Set(world.sent.map((sent) => sent.id)).size, 1);
    for (const { delayMs } of world.sent) assert.ok(delayMs >= 150_000 && delayMs <= 450_000, `${delayMs}`);
  });

  const event = {
    do: "record",
    about: toy(),
    resource: { group: "g", version: "v1", plural: "toys", kind: "Toy" },
    occasion: "1",
    type: "Normal",
    reason: "Made",
    message: "made",
  } as const;

  test("is an Event with the component that the kind declares, as the plan's own Events are", async () => {
    const world = openFixture(() => ({ memory: { count: 1 }, stages: [[event], [creation("arm")]] }));
    refusing(world, "create parts arm", 403, "Forbidden");
    await step(world.world, { ...message, tries: 2 });
    const told = [...world.objects.values()].filter(({ kind }) => kind === "Event");
    const heard = told.map(({ reason, source }) => `${reason} of ${Object(source).component}`);
    assert.deepEqual(heard, ["Made of toy-maker", "Forbidden of toy-maker"]);
  });

  test("is not made of an Event that cannot be written: after three tries status and record go on", async () => {
    const world = openFixture(() => ({ memory: { count: 1 }, stages: [[event]], status: { phase: "made" } }));
    world.before = (call) => {
      if (call.startsWith("create events")) throw failing(429, "TooManyRequests");
    };
    await retries(world, 2);
    assert.equal(world.objects.get("toys bear")?.["status"], undefined);
    assert.equal((await step(world.world, last(world)?.message ?? message)).did, "step");
    assert.deepEqual(world.objects.get("toys bear")?.["status"], { phase: "made" });
  });
});

describe("a timer", () => {
  const following = (next: Next): Fixture => openFixture(() => ({ memory: { count: 1 }, stages: [], next }));
  const waiting = (wait: Wait): Fixture => following({ do: "wait", ...wait });

  const cases: readonly { name: string; next: Next; delayMs: number | undefined }[] = [
    { name: "is not armed by a plan without a time", next: { do: "wait" }, delayMs: undefined },
    { name: "is armed for an instant", next: { do: "wait", wakeAt: eight + 90_000 }, delayMs: 90_000 },
    {
      name: "is armed for the instant if that is nearer than the poll",
      next: { do: "wait", wakeAt: eight + 1_000, pollMs: 60_000 },
      delayMs: 1_000,
    },
    {
      name: "is armed for a second later if its instant has passed",
      next: { do: "wait", wakeAt: eight - 5_000 },
      delayMs: 1_000,
    },
    {
      name: "is left to the resync if the queue cannot hold it",
      next: { do: "wait", wakeAt: eight + 900_001 },
      delayMs: undefined,
    },
    { name: "is not armed by a plan that forgets its key", next: { do: "forget" }, delayMs: undefined },
  ];
  for (const { name, next, delayMs } of cases) {
    test(name, async () => {
      const world = following(next);
      await step(world.world, message);
      assert.deepEqual(
        world.sent.map((sent) => sent.delayMs),
        delayMs === undefined ? [] : [delayMs],
      );
    });
  }

  test("has its instant in the record, so that a lost timer can be armed again", async () => {
    const world = waiting({ wakeAt: eight + 90_000, waitsFor: until("the snow", "ended") });
    await step(world.world, message);
    assert.deepEqual([world.record()?.wakeAt, world.record()?.waitsFor], [eight + 90_000, "the snow to end"]);
  });

  const idsOf = async (world: Fixture, steps: readonly [now: number, reason: string][]): Promise<number> => {
    for (const [now, reason] of steps) {
      world.time.now = now;
      await step(world.world, { ...message, reason });
    }
    return new Set(world.sent.map((sent) => sent.id)).size;
  };

  test("is armed once by many steps that wait for the same instant", async () => {
    const steps = [0, 1_000, 2_000].map((later): [number, string] => [eight + later, "event"]);
    assert.equal(await idsOf(waiting({ wakeAt: eight + 90_000 }), steps), 1);
  });

  /** Takes steps at the given instants, and returns the different timers that they set, as seconds after `eight`. */
  const timersOf = async (world: Fixture, steps: readonly [laterS: number, due?: number][]): Promise<number[]> => {
    const timers = new Map<string | undefined, number>();
    for (const [laterS, due] of steps) {
      world.time.now = eight + laterS * 1_000;
      await step(world.world, { ...message, reason: "timer", ...(due === undefined ? {} : { due }) });
      const { id, delayMs = 0 } = last(world) ?? {};
      timers.set(id, (world.time.now + delayMs - eight) / 1_000);
    }
    return [...timers.values()];
  };

  test("is armed again if it came too early, and is no duplicate of itself", async () => {
    const due = eight + 90_000;
    assert.deepEqual(await timersOf(waiting({ wakeAt: due }), [[0], [89, due], [89.5, due]]), [90, 90, 90.5]);
    const [slot = 0] = await timersOf(waiting({ pollMs: 15_000 }), [[0]]);
    const early: [number, number] = [slot - 1, eight + slot * 1_000];
    assert.deepEqual(await timersOf(waiting({ pollMs: 15_000 }), [[0], early]), [slot, slot + 15]);
  });

  test("stands for all polls of a key between two of its slots", async () => {
    const [slot = 0] = await timersOf(waiting({ pollMs: 15_000 }), [[0]]);
    const burst = [2, 3, 8, 14].map((more): [number] => [slot + more]);
    assert.deepEqual(await timersOf(waiting({ pollMs: 15_000 }), burst), [slot + 30]);
  });

  test("is about a poll away from the step that sets it, so that most objects change before it fires", async () => {
    const [slot = 0] = await timersOf(waiting({ pollMs: 15_000 }), [[0]]);
    assert.ok(slot > 13 && slot <= 28, `${slot}`);
  });

  test("of a poll is followed by one in the next slot, also when it is late by less than two seconds", async () => {
    const [slot = 0] = await timersOf(waiting({ pollMs: 15_000 }), [[0]]);
    const chain = [0, 15.4, 31, 46.9].map((more): [number] => [slot + more]);
    assert.deepEqual(
      await timersOf(waiting({ pollMs: 15_000 }), chain),
      [15, 30, 45, 60].map((more) => slot + more),
    );
  });

  test("of two chains of polls is one from their first common slot on", async () => {
    const world = waiting({ pollMs: 5_000 });
    const [slot = 0] = await timersOf(world, [[0]]);
    const due = eight + slot * 1_000;
    // The second chain began with another timer, which had nothing to do with the polls.
    const steps: [number, number?][] = [[slot, due], [slot + 0.2, due - 800], [slot + 3], [slot + 5, due + 5_000]];
    assert.deepEqual(await timersOf(world, steps), [slot + 5, slot + 10]);
  });

  test("has other slots for other keys", async () => {
    const slots = new Set<number>();
    for (let nr = 0; nr < 20; nr++) {
      const world = waiting({ pollMs: 15_000 });
      await step(world.world, { ...message, cluster: `here-${nr}` });
      slots.add(last(world)?.delayMs ?? 0);
    }
    assert.ok(slots.size > 5, `${slots.size}`);
  });

  test("is no part of a plan that says again: each of its steps sends another message", async () => {
    const world = following({ do: "again" });
    for (let times = 0; times < 3; times++) {
      world.time.monotonic += 1;
      await step(world.world, message);
    }
    const reasons = world.sent.map((sent) => sent.message.reason);
    assert.deepEqual([reasons, new Set(world.sent.map((sent) => sent.id)).size], [["again", "again", "again"], 3]);
  });

  test("carries its instant, and no hint of the old message", async () => {
    const world = waiting({ wakeAt: eight + 5_000 });
    await step(world.world, { ...message, resourceVersion: "12", tries: 3 });
    assert.deepEqual(last(world)?.message, {
      cluster: "here",
      kind: "Toy",
      namespace: "ns",
      name: "bear",
      reason: "timer",
      due: eight + 5_000,
    });
  });
});

test("a step in trouble records nothing once another step has saved", async () => {
  const world = openFixture(() => making);
  refusing(world, "create parts arm", 403, "Forbidden");
  world.after = (call) => {
    if (call.startsWith("save 1"))
      void world.checkpoints.save(
        message,
        { schema: 1, cluster: "cluster-1", uid: "toy-1", saves: 9, memory: { count: 7 } },
        "1",
      );
  };
  await step(world.world, { ...message, tries: 4 });
  assert.deepEqual([world.record()?.memory, writesIn(world.calls).at(-1)], [{ count: 7 }, "save 2"]);
});
