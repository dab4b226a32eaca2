/** Batches: one step per key, keys independent of each other, and only failed messages are delivered again. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Message, Replaced } from "../../../../shared/core/key.ts";
import type { EndedStep } from "../../../../shared/engine/context/world.ts";
import { type Envelope, merged, take, takeBatch } from "../../../../shared/engine/reconcile/intake.ts";
import { message, openFixture } from "../fakes.ts";

const of = (name: string, more: Partial<Message> = {}): Message => ({ ...message, name, ...more });

const replaced = (resourceVersion: string): Replaced => ({
  ...{ group: "", version: "v1", plural: "parts", namespace: "ns", name: "p", uid: "part-1" },
  resourceVersion,
});

const batch = (...names: readonly string[]): readonly Envelope[] =>
  names.map((name, index) => ({ id: `${index} ${name}`, message: of(name) }));

/** A world in which the steps of keys whose name begins with x fail, and no message for them can be sent. */
const halfBroken = () => {
  const world = openFixture();
  const { queue, checkpoints } = world.world;
  const steps: string[] = [];
  return {
    steps,
    world: {
      ...world.world,
      checkpoints: {
        ...checkpoints,
        load: async (key: Message) => {
          steps.push(key.name);
          if (key.name.startsWith("x")) throw new Error("no store");
          return undefined;
        },
      },
      queue: {
        ...queue,
        sendLater: async (sent: Message) => {
          if (sent.name.startsWith("x")) throw new Error("no queue");
        },
      },
    },
    lines: world.lines,
  };
};

describe("a batch", () => {
  const cases = [
    { name: "without messages takes no step", names: [], failed: [], steps: [] },
    { name: "takes one step for all messages of a key", names: ["a", "a", "a"], failed: [], steps: ["a"] },
    { name: "takes a step for each key", names: ["a", "b", "a"], failed: [], steps: ["a", "b"] },
    {
      name: "returns every message of a failed key, and no other",
      names: ["x", "a", "x", "b"],
      failed: ["0 x", "2 x"],
      steps: ["x", "a", "b"],
    },
    {
      name: "returns the messages of two failed keys",
      names: ["x1", "a", "x2"],
      failed: ["0 x1", "2 x2"],
      steps: ["x1", "a", "x2"],
    },
  ];
  test("reports each step at its end, with the time at which the queue took its oldest message", async () => {
    const { world } = halfBroken();
    const told: EndedStep[] = [];
    const sent = batch("a", "x", "a").map((envelope, at) => ({ ...envelope, sentAt: 30 - at * 10 }));
    await takeBatch({ ...world, ended: (step) => void told.push(step) }, sent);
    assert.deepEqual(told.map(({ message, ending, sentAt }) => [message.name, ending === undefined, sentAt]).sort(), [
      ["a", false, 10],
      ["x", true, 20],
    ]);
  });

  for (const { name, names, failed, steps } of cases) {
    test(name, async () => {
      const { world, steps: taken } = halfBroken();
      assert.deepEqual(await takeBatch(world, batch(...names)), failed);
      assert.deepEqual(taken, steps);
    });
  }

  test("takes a step for each namespace and cluster of the same name", async () => {
    const { world, steps } = halfBroken();
    const others = [of("a"), of("a", { namespace: "other" }), of("a", { cluster: "there" })];
    await takeBatch(
      world,
      others.map((one, index) => ({ id: String(index), message: one })),
    );
    assert.equal(steps.length, 3);
  });

  test("lets a slow key block no other", async () => {
    const world = openFixture();
    const order: string[] = [];
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const load = async (key: Message) => {
      if (key.name === "slow") await held;
      order.push(key.name);
      if (key.name === "fast") release();
      return undefined;
    };
    await takeBatch({ ...world.world, checkpoints: { ...world.world.checkpoints, load } }, batch("slow", "fast"));
    assert.deepEqual(order, ["fast", "slow"]);
  });

  test("logs a failed step, which has no ending", async () => {
    const { world, lines } = halfBroken();
    assert.equal(await take(world, [of("x")]), undefined);
    assert.equal(lines.at(-1)?.message, "a step failed and will be delivered again");
    assert.deepEqual(await take(world, []), { did: "nothing", why: "no message" });
  });
});

describe("the message that stands for several of one key", () => {
  const cases: readonly { name: string; messages: readonly [Message, ...Message[]]; want: Message }[] = [
    { name: "is the message itself if it is alone", messages: [of("a", { tries: 2 })], want: of("a", { tries: 2 }) },
    {
      name: "waits for the changes of all, once each, with the fewest looks",
      messages: [
        of("a", { after: [replaced("7")], looks: 1 }),
        of("a", { after: [replaced("8"), replaced("7")] }),
        of("a", { reason: "new" }),
      ],
      want: of("a", { reason: "new", after: [replaced("7"), replaced("8")] }),
    },
    {
      name: "is the newest",
      messages: [of("a", { reason: "old" }), of("a", { reason: "new", resourceVersion: "5" })],
      want: of("a", { reason: "new", resourceVersion: "5" }),
    },
    { name: "has no tries if any of them is new", messages: [of("a", { tries: 4 }), of("a")], want: of("a") },
    {
      name: "has the earliest deadline of notices",
      messages: [of("a", { until: 2 }), of("a", { until: 1 }), of("a", { until: 3 })],
      want: of("a", { until: 1 }),
    },
    {
      name: "has no deadline of notices that were taken back",
      messages: [of("a", { until: 2 }), of("a", { stays: true })],
      want: of("a", { stays: true }),
    },
    {
      name: "takes earlier notices back, and has the deadlines of later ones",
      messages: [of("a", { until: 1 }), of("a", { stays: true }), of("a", { until: 3 }), of("a", { until: 2 })],
      want: of("a", { stays: true, until: 2 }),
    },
    { name: "has no tries, even if the new one came first", messages: [of("a"), of("a", { tries: 4 })], want: of("a") },
    {
      name: "has the fewest tries among retries",
      messages: [of("a", { tries: 4 }), of("a", { tries: 2 })],
      want: of("a", { tries: 2 }),
    },
  ];
  for (const { name, messages, want } of cases) test(name, () => assert.deepEqual(merged(messages), want));
});
