/**
 * The queue on NATS JetStream, for senders: a message is stored under the subject of its group, a timer as a schedule
 * whose target is that subject. An id vanishes for five minutes.
 */
import { groupOf, type Message } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";
import type { Headers, Nats } from "./connection.ts";
import { refusalOf } from "./refusal.ts";
import { type Clock, ensureQueue, type Names } from "./streams.ts";

/** Publishes under way: more of them outrun the server, and time out. */
const mostUnderWay = 500;
const longestReason = 200;

/** Runs at most so many at once; the others wait in their order. */
const atMost = (most: number): (<T>(work: () => Promise<T>) => Promise<T>) => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
};

/** Opens a queue once: its streams are created by the first caller. A failure is forgotten, so that the next one tries again. */
export const opening = (nats: Nats, names: Names, visibilityMs: number): (() => Promise<Clock>) => {
  let opened: Promise<Clock> | undefined;
  nats.onReconnect(() => {
    opened = undefined;
  });
  return async () => {
    opened ??= ensureQueue(nats, names, visibilityMs);
    try {
      return await opened;
    } catch (cause) {
      opened = undefined;
      throw refusalOf("open", names.queue, cause);
    }
  };
};

/** Shortens the reason, which may contain a long name: a receiver rejects longer ones. */
const textOf = (message: Message): string =>
  JSON.stringify({ ...message, reason: message.reason.slice(0, longestReason) });

type Options = { readonly nats: Nats; readonly names: Names; readonly open: () => Promise<Clock> };

export const natsQueue = ({ nats, names, open }: Options): Queue => {
  const limited = atMost(mostUnderWay);
  const publish = (subject: string, message: Message, headers: Headers): Promise<void> =>
    limited(async () => {
      try {
        await nats.ask(subject, textOf(message), headers);
      } catch (cause) {
        throw refusalOf("publish", names.queue, cause);
      }
    });
  return {
    send: async (message, id) => {
      await open();
      await publish(names.key(groupOf(message)), message, { "Nats-Msg-Id": id });
    },
    sendLater: async (message, id, delayMs) => {
      const clock = await open();
      const group = groupOf(message);
      await publish(names.timer(group, id), message, {
        "Nats-Msg-Id": id,
        "Nats-Schedule": `@at ${new Date(Math.ceil(clock.now() + Math.max(0, delayMs))).toISOString()}`,
        "Nats-Schedule-Target": names.key(group),
      });
    },
  };
};
