/**
 * Messages whose steps never end, on a real queue and the embedded one: each is reported by an Event, acknowledged, and
 * does not delay others.
 */

import assert from "node:assert/strict";
import type { World } from "../../../shared/engine/context/world.ts";
import { intake } from "../../../shared/engine/reconcile/intake.ts";
import { testCase } from "../../support/test-case.ts";
import { openFixture, toy } from "../../unit/engine/fakes.ts";
import { type Behaviour, type Counter, type Handed, messageOf, of, shown } from "./counter.ts";

/** A key that the intake sends alone after 2 s. */
const name = "dog";
/** The number of started deliveries after which a message is set aside. */
const patience = 3;

/** Receives deliveries without an answer, as a function that is killed by them. */
const dieOf = async (counter: Counter, times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1) await counter.giveBack(await counter.receive(), 0);
};

/** Processes a batch as a function does: failed messages return at once, the others are acknowledged. */
const take = async (counter: Counter, world: World, handed: readonly Handed[]): Promise<void> => {
  const delivered = handed.map(({ message, received }, at) => ({
    id: String(at),
    body: JSON.stringify(message),
    received,
  }));
  const failed = await intake(world, delivered);
  await counter.acknowledge(handed.filter((_, at) => !failed.includes(String(at))));
  await counter.giveBack(
    handed.filter((_, at) => failed.includes(String(at))),
    0,
  );
};

/** Opens a toy at rest, and the world in which steps for this counter's messages run. */
const opened = async (counter: Counter) => {
  const { world, objects, checkpoints, put } = openFixture(() => ({
    memory: { count: 1 },
    stages: [],
    next: { do: "rest" },
  }));
  put(toy({ name }));
  const own: World = { ...world, queue: counter };
  await intake(own, [{ id: "first", body: JSON.stringify(messageOf(name, "0")), received: 1 }]);
  const record = (): string => checkpoints.text(messageOf(name, "")) ?? "";
  const events = (): readonly unknown[] =>
    [...objects.values()].filter(({ kind }) => kind === "Event").map((event) => event["reason"]);
  return { world: own, record, events };
};

export const poison: readonly Behaviour[] = [
  testCase(
    "a key that whoever takes it dies of is sent for alone, then told on its object; its group goes on",
    async (counter) => {
      const { world, record, events } = await opened(counter);
      await counter.send(messageOf(name, "1"), "1");
      await dieOf(counter, patience);
      await take(counter, world, await counter.receive());
      // The message is acknowledged, so the next one is not delayed.
      await counter.send(messageOf(name, "2"), "2");
      const next = await counter.receive();
      assert.equal(shown(next), `${name}2`);
      await take(counter, world, next);
      assert.deepEqual(events(), []);
      await counter.pass(2_600);
      await dieOf(counter, patience);
      const alone = await counter.receive();
      assert.deepEqual([alone.length, alone[0]?.received], [1, patience + 1]);
      await take(counter, world, alone);
      assert.deepEqual(events(), ["StepsFailed"]);
      assert.match(record(), /StepsFailed/);
      assert.equal(shown(await counter.receive()), "");
      assert.deepEqual(await counter.dead(), []);
    },
  ),
  testCase("a neighbour in its batch is taken, and keeps its count", async (counter) => {
    const { world } = await opened(counter);
    await counter.send(messageOf(name, "1"), "1");
    await dieOf(counter, patience);
    await counter.send(messageOf("b", "1"), "b1");
    const both = await counter.receive();
    assert.deepEqual(of(both, "b")[0]?.received, 1);
    await take(counter, world, both);
    await counter.send(messageOf("b", "2"), "b2");
    const next = await counter.receive();
    assert.deepEqual([shown(next), next[0]?.received], ["b2", 1]);
  }),
];
