/** Arbitrary sequences of calls against a small model: the embedded queue keeps the promises of SQS FIFO. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Delivery, openQueue } from "../../../../shared/adapters/embedded/queue.ts";
import { groupOf, type Message } from "../../../../shared/core/key.ts";

const visibilityMs = 90;

type Act =
  | { readonly do: "send"; readonly group: number; readonly id: number }
  | { readonly do: "later"; readonly group: number; readonly id: number; readonly delay: number }
  | { readonly do: "receive"; readonly count: number }
  | { readonly do: "acknowledge"; readonly which: number }
  | { readonly do: "giveBack"; readonly which: number; readonly delay: number }
  | { readonly do: "pass"; readonly ms: number };

const group = fc.nat(2);
const id = fc.nat(400);
const delay = fc.integer({ min: 1, max: 200 });
const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("send" as const), group, id }),
    fc.record({ do: fc.constant("later" as const), group, id, delay }),
    fc.record({ do: fc.constant("receive" as const), count: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ do: fc.constant("acknowledge" as const), which: fc.nat(20) }),
    fc.record({ do: fc.constant("giveBack" as const), which: fc.nat(20), delay }),
    fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 150 }) }),
  ),
  { maxLength: 60 },
);

const of = (name: number, reason: string): Message => ({
  cluster: "c",
  kind: "K",
  namespace: "n",
  name: `g${name}`,
  reason,
});

type Out = { readonly delivery: Delivery; until: number; over: boolean };

/** The model of the queue: messages by group in order of arrival, delayed messages, and deliveries in flight. */
const model = () => {
  const waiting = new Map<string, string[]>();
  const delayed: { at: number; message: Message }[] = [];
  const seen = new Map<number, number>();
  const out: Out[] = [];
  const arrive = (message: Message): void => {
    const name = groupOf(message);
    waiting.set(name, [...(waiting.get(name) ?? []), message.reason]);
  };
  return {
    waiting,
    delayed,
    out,
    arrive,
    isNew: (given: number, now: number): boolean => {
      if ((seen.get(given) ?? Number.NEGATIVE_INFINITY) + 300_000 > now) return false;
      seen.set(given, now);
      return true;
    },
    ripen: (now: number): void => {
      const due = delayed.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
      for (const one of due) {
        delayed.splice(delayed.indexOf(one), 1);
        arrive(one.message);
      }
      for (const one of out) if (one.until <= now) one.over = true;
    },
    lockOf: (name: string): Out | undefined => out.find((one) => !one.over && one.delivery.group === name),
  };
};

test("the embedded queue agrees with its model after any sequence of calls", async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (sequence) => {
      const time = { now: 1_000 };
      const queue = openQueue({ now: () => time.now, visibilityMs });
      const owed = model();
      let serial = 0;
      const chosen = (which: number): Out | undefined => owed.out[which % Math.max(1, owed.out.length)];
      const check = (delivery: Delivery): void => {
        assert.equal(owed.lockOf(delivery.group), undefined, "a locked group was delivered");
        const reasons = delivery.messages.map((message) => message.reason);
        assert.deepEqual([...reasons].sort(), [...(owed.waiting.get(delivery.group) ?? [])].sort());
        const sent = reasons.filter((reason) => !reason.startsWith("later"));
        assert.deepEqual(
          sent,
          owed.waiting.get(delivery.group)?.filter((reason) => !reason.startsWith("later")),
        );
        owed.out.push({ delivery, until: time.now + visibilityMs, over: false });
      };
      const run: { [D in Act["do"]]: (act: Extract<Act, { do: D }>) => Promise<void> | void } = {
        send: async (act) => {
          const message = of(act.group, `${++serial}`);
          if (owed.isNew(act.id, time.now)) owed.arrive(message);
          await queue.send(message, `${act.id}`);
        },
        later: async (act) => {
          const message = of(act.group, `later ${++serial}`);
          if (owed.isNew(act.id, time.now)) owed.delayed.push({ at: time.now + act.delay, message });
          await queue.sendLater(message, `${act.id}`, act.delay);
        },
        receive: ({ count }) => {
          owed.ripen(time.now);
          const free = [...owed.waiting].filter(
            ([name, reasons]) => reasons.length > 0 && owed.lockOf(name) === undefined,
          );
          const deliveries = queue.receive(count);
          assert.equal(deliveries.length, Math.min(count, free.length));
          for (const delivery of deliveries) check(delivery);
        },
        acknowledge: ({ which }) => {
          const one = chosen(which);
          if (one === undefined) return;
          queue.acknowledge(one.delivery);
          if (one.over) return;
          const { group: name, messages } = one.delivery;
          const done = new Set(messages.map((message) => message.reason));
          owed.waiting.set(
            name,
            (owed.waiting.get(name) ?? []).filter((reason) => !done.has(reason)),
          );
          one.over = true;
        },
        giveBack: (act) => {
          const one = chosen(act.which);
          if (one === undefined) return;
          queue.giveBack(one.delivery, act.delay);
          if (!one.over) one.until = time.now + act.delay;
        },
        pass: ({ ms }) => {
          time.now += ms;
          owed.ripen(time.now);
          for (const delivery of queue.receive(3)) check(delivery);
        },
      };
      const perform = (act: Act): Promise<void> | void => {
        switch (act.do) {
          case "send":
            return run.send(act);
          case "later":
            return run.later(act);
          case "receive":
            return run.receive(act);
          case "acknowledge":
            return run.acknowledge(act);
          case "giveBack":
            return run.giveBack(act);
          case "pass":
            return run.pass(act);
        }
      };
      for (const act of sequence) await perform(act);
      const messages = [...owed.waiting.values()].reduce((sum, reasons) => sum + reasons.length, 0);
      assert.deepEqual(queue.depth().ready + queue.depth().delayed, messages + owed.delayed.length);
    }),
    { numRuns: 300 },
  );
});
