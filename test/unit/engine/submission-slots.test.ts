/** Slots of steps that submit or create much: a bounded number, each one served in turn, and decided again after a wait. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openSlots } from "../../../shared/engine/load-limits.ts";
import { step } from "../../../shared/engine/reconcile/step.ts";
import { creation, message, openFixture, type ToyPlan, writesIn } from "./fakes.ts";

describe("submission slots", () => {
  test("admit a bounded number at once, and the others after them in order", async () => {
    const turns = openSlots(2);
    const said: string[] = [];
    const all = ["a", "b", "c", "d"].map((name) => ({ name, turn: turns() }));
    const entered = all.map(async ({ name, turn }) => said.push(`${name} ${await turn.enter()}`));
    await Promise.all(entered.slice(0, 2));
    assert.deepEqual(said, ["a at once", "b at once"]);
    all[1]?.turn.leave();
    await entered[2];
    all[0]?.turn.leave();
    await entered[3];
    assert.deepEqual(said, ["a at once", "b at once", "c waited", "d waited"]);
  });

  test("admit a holder again at once, and are freed once even if the holder leaves twice", async () => {
    const turns = openSlots(1);
    const [first, second, third] = [turns(), turns(), turns()];
    await first.enter();
    assert.equal(await first.enter(), "at once");
    first.leave();
    first.leave();
    assert.equal(await second.enter(), "at once");
    let inside = false;
    const waits = third.enter().then(() => {
      inside = true;
    });
    await Promise.resolve();
    assert.equal(inside, false);
    second.leave();
    await waits;
  });

  test("are not freed by a caller that never entered", async () => {
    const turns = openSlots(1);
    turns().leave();
    await turns().enter();
    let inside = false;
    void turns()
      .enter()
      .then(() => {
        inside = true;
      });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(inside, false);
  });
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("slots of steps that create many objects", () => {
  test("are given to namespaces in turns, so that a tenant with many steps is not served twice before another one", async () => {
    const slots = openSlots(1);
    const first = slots("one");
    await first.enter();
    const said: string[] = [];
    const later = async (name: string, namespace: string): Promise<void> => {
      const slot = slots(namespace);
      await slot.enter();
      said.push(name);
      slot.leave();
    };
    void [later("one/a", "one"), later("one/b", "one"), later("two/a", "two")];
    first.leave();
    await turn();
    assert.deepEqual(said, ["one/a", "two/a", "one/b"]);
  });
});

const submission = (name: string): ToyPlan => ({
  memory: { count: 1 },
  safety: { fenced: true },
  stages: [[creation(name)]],
});

describe("steps that submit an application", () => {
  test("run in bounded number, and all of them succeed", async () => {
    const turns = openSlots(2);
    const seen: { most: number; now: number } = { most: 0, now: 0 };
    const one = async (): Promise<string> => {
      const world = openFixture(() => submission("arm"));
      world.before = async (call) => {
        if (!call.startsWith("create")) return;
        seen.now += 1;
        seen.most = Math.max(seen.most, seen.now);
        await new Promise((resolve) => setImmediate(resolve));
        seen.now -= 1;
      };
      return (await step({ ...world.world, turns }, message)).did;
    };
    const ended = await Promise.all(Array.from({ length: 20 }, one));
    assert.deepEqual([...new Set(ended)], ["step"]);
    assert.equal(seen.most, 2);
  });

  test("decide again after a wait, so that the changes of other steps count", async () => {
    const turns = openSlots(1);
    const before = turns();
    await before.enter();
    let decisions = 0;
    const world = openFixture(() => {
      decisions += 1;
      return decisions === 1 ? submission("arm") : { memory: { count: 1 }, stages: [], next: { do: "rest" } };
    });
    const waits = step({ ...world.world, turns }, message);
    await new Promise((resolve) => setImmediate(resolve));
    before.leave();
    await waits;
    assert.equal(decisions, 2);
    assert.deepEqual(writesIn(world.calls), ["save 1"]);
  });

  test("free their slot even if they fail", async () => {
    const turns = openSlots(1);
    const world = openFixture(() => submission("arm"));
    world.before = (call) => {
      if (call.startsWith("create")) throw new Error("broken");
    };
    await step({ ...world.world, turns }, message);
    assert.equal(await turns().enter(), "at once");
  });

  test("wait only if they submit: a step without a submission waits for no slot", async () => {
    const turns = openSlots(1);
    await turns().enter();
    const world = openFixture(() => ({ memory: { count: 1 }, stages: [[creation("arm")]] }));
    assert.equal((await step({ ...world.world, turns }, message)).did, "step");
  });
});
