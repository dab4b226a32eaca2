/** Standby of steps: a key of a kind that another controller is at work on comes again by itself. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { step } from "../../../../shared/engine/reconcile/step.ts";
import { creation, eight, type Fixture, failing, message, openFixture, type ToyPlan, writesIn } from "../fakes.ts";

const making: ToyPlan = { memory: { count: 1 }, stages: [[creation("arm")]] };

const last = (world: Fixture) => world.sent[world.sent.length - 1];

describe("a key that meets a standby", () => {
  const standing = (world: Fixture, now: number, isAside = true): Fixture["world"] => ({
    ...world.world,
    standby: async (kind) => (isAside ? { why: `standby: another controller has ${kind}`, now } : undefined),
  });

  test("comes again by itself, soon at first and rarely later, and nothing is read or written meanwhile", async () => {
    const world = openFixture(() => making);
    let now = eight;
    const waits: number[] = [];
    for (let times = 0; times < 45; times += 1) {
      const ending = await step(standing(world, now), last(world)?.message ?? message);
      assert.deepEqual(ending, { did: "nothing", why: `standby: another controller has ${message.kind}` });
      waits.push(last(world)?.delayMs ?? 0);
      now += last(world)?.delayMs ?? 0;
    }
    assert.ok(
      waits.slice(0, 40).every((ms) => ms >= 13_000 && ms <= 28_000),
      waits.join(),
    );
    assert.ok(
      waits.slice(41).every((ms) => ms >= 298_000 && ms <= 598_000),
      waits.join(),
    );
    assert.deepEqual(writesIn(world.calls), []);
    assert.equal(last(world)?.message.tries, undefined);
    await step(standing(world, now, false), last(world)?.message ?? message);
    assert.deepEqual(world.record()?.memory, { count: 1 });
  });

  test("comes again once, however many messages of it there are", async () => {
    const world = openFixture(() => making);
    for (const reason of ["event", "event", "sweep"]) await step(standing(world, eight), { ...message, reason });
    assert.equal(new Set(world.sent.map(({ id }) => id)).size, 1);
  });

  test("keeps what its message says: a notice its end, a timer its instant", async () => {
    const world = openFixture(() => making);
    const notice = { ...message, kind: `notices.${message.kind}`, name: "node-1", reason: "notice", until: 5 };
    await step(standing(world, eight), notice);
    assert.deepEqual(last(world)?.message, { ...notice, standbys: 1 });
  });

  test("is tried again if nobody can say whether there is a standby", async () => {
    const world = openFixture(() => making);
    const standby = () => Promise.reject(failing(503, "ServiceUnavailable"));
    assert.equal((await step({ ...world.world, standby }, message)).did, "troubled");
    assert.equal(last(world)?.message.reason, "retry");
  });
});
