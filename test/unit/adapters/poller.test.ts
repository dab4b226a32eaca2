/** The poller: group by group, acknowledged or given back at once, and a stop that finishes messages in flight. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Received, type Receiver, startPoller } from "../../../shared/adapters/poller.ts";

const of = (text: string): Received => ({
  id: text,
  receipt: text,
  group: text.slice(0, 1),
  body: text,
  received: 1,
  sentAt: undefined,
});

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

type Scene = readonly string[] | Error;

/** A receiver that returns these results in order, then waits forever. */
const polled = (scenes: readonly Scene[], more: Partial<Receiver> = {}) => {
  const log: string[] = [];
  const left = [...scenes];
  const receiver: Receiver = {
    receive: async () => {
      const scene = left.shift();
      if (scene === undefined) return new Promise(() => {});
      if (scene instanceof Error) throw scene;
      return scene.map(of);
    },
    acknowledge: async (messages) => {
      if (messages.length > 0) log.push(`done ${messages.map(({ id }) => id).join(" ")}`);
    },
    giveBack: async (messages, delayMs) => {
      if (messages.length > 0) log.push(`back ${messages.map(({ id }) => id).join(" ")} ${delayMs}`);
    },
    ...more,
  };
  return { receiver, log };
};

type Take = (messages: readonly Received[]) => Promise<readonly string[]>;

const start = (receiver: Receiver, log: string[], take: Take = async () => []) =>
  startPoller({
    ...{ receiver, take, parallel: 1, againMs: 5_000 },
    report: (_, message) => log.push(message),
    pause: async (ms) => void log.push(`waits ${ms}`),
  });

describe("a poller", () => {
  test("takes each group alone, and acknowledges it without a wait for the others", async () => {
    const { receiver, log } = polled([["a1", "b1", "a2"]]);
    start(receiver, log, ([first]) => (first?.group === "b" ? new Promise(() => {}) : Promise.resolve([])));
    await settled();
    assert.deepEqual(log, ["done a1 a2"]);
  });

  test("gives back failed messages, and all of a group whose step threw", async () => {
    const { receiver, log } = polled([["a1", "b1", "c1"]]);
    start(receiver, log, async ([first]) => {
      if (first?.group === "b") throw new Error("broken");
      return first?.group === "c" ? ["c1"] : [];
    });
    await settled();
    assert.deepEqual(log.sort(), ["back b1 5000", "back c1 5000", "done a1"]);
  });

  test("waits longer after each failed receive, and briefly again after a success", async () => {
    const away = new Error("away");
    const { receiver, log } = polled([away, away, ["a1"], away]);
    start(receiver, log);
    await settled();
    assert.deepEqual(
      log.filter((line) => line.startsWith("waits")),
      ["waits 500", "waits 1000", "waits 500"],
    );
  });

  test("continues when an acknowledgement fails, and the messages come again", async () => {
    const { receiver, log } = polled([["a1"], ["a2"]], {
      acknowledge: async (messages) => {
        if (messages[0]?.id === "a1") throw new Error("away");
      },
    });
    const taken: string[] = [];
    start(receiver, log, async (messages) => {
      taken.push(...messages.map(({ id }) => id));
      return [];
    });
    await settled();
    assert.deepEqual(taken, ["a1", "a2"]);
  });

  test("finishes its messages and receives no others after a stop", async () => {
    let finish = (): void => {};
    const { receiver, log } = polled([["a1"], ["a2"]]);
    const poller = start(receiver, log, () => new Promise((resolve) => (finish = () => resolve([]))));
    await settled();
    const stopping = poller.stop(10_000);
    finish();
    await stopping;
    assert.deepEqual(log, ["done a1"]);
  });
});
