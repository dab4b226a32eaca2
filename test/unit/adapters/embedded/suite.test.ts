/** The embedded queue in the suite that SQS passes, under a clock that the test sets. */
import { describe, test } from "node:test";
import { type Delivery, openQueue } from "../../../../shared/adapters/embedded/queue.ts";
import type { Message } from "../../../../shared/core/key.ts";
import { type Counter, type Handed, maxReceives, visibilityMs } from "../../../real/queue/counter.ts";
import { behaviours } from "../../../real/queue/suite.ts";

const handedOf = (deliveries: readonly Delivery[]): readonly Handed[] =>
  deliveries.flatMap((delivery) =>
    delivery.messages.map((message, at) => ({ message, received: delivery.received[at] ?? 0, token: delivery })),
  );

const open = (): Counter => {
  const time = { now: 1_000_000 };
  const dead: string[] = [];
  const bury = ({ reason }: Message): void => void dead.push(reason);
  const queue = openQueue({ now: () => time.now, visibilityMs, maxReceives, bury });
  const deliveries = new Map<unknown, Delivery>();
  const receive = async (): Promise<readonly Handed[]> => {
    const taken = queue.receive(10);
    for (const delivery of taken) deliveries.set(delivery, delivery);
    return handedOf(taken);
  };
  const each = (handed: readonly Handed[], act: (delivery: Delivery) => void): void => {
    for (const token of new Set(handed.map((one) => one.token))) {
      const delivery = deliveries.get(token);
      if (delivery !== undefined) act(delivery);
    }
  };
  return {
    send: queue.send,
    sendLater: queue.sendLater,
    receive,
    poll: () => new Promise((resolve) => queue.onReady(() => resolve(receive()))),
    acknowledge: async (handed) => each(handed, queue.acknowledge),
    giveBack: async (handed, delayMs) => each(handed, (delivery) => queue.giveBack(delivery, delayMs)),
    pass: async (ms) => {
      time.now += ms;
    },
    dead: async () => dead,
  };
};

describe("the embedded queue", () => {
  for (const { name, run } of behaviours) test(name, () => run(open()));
});
