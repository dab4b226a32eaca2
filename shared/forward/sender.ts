/**
 * Sends the messages of changes to the queue: coalesced, with a limited number of parallel sends. Failed messages are
 * kept and retried, one per key however long the queue is unavailable.
 */
import { backoffOf } from "../core/backoff.ts";
import type { Message } from "../core/key.ts";
import type { Report } from "../engine/ports.ts";
import { type Coalescer, openCoalescer, windows } from "./coalesce.ts";
import type { Sending } from "./keys.ts";

export type Sender = {
  offer(sending: Sending): void;
  /** Sends all waiting messages. Resolves when everything offered so far was tried: true if the queue took it. */
  flush(): Promise<boolean>;
  /** The same for the last time: failed messages are not retried. */
  drain(): Promise<boolean>;
};

type Settings = {
  readonly send: (message: Message, dedupeId: string) => Promise<void>;
  readonly report: Report;
  readonly now: () => number;
};

const atOnce = 32;
const shortestRetryMs = 500;
const longestRetryMs = 15_000;

/** Calls `ring` at the earliest requested time. */
const openAlarm = (now: () => number, ring: () => void) => {
  let timer: NodeJS.Timeout | undefined;
  let at = Number.POSITIVE_INFINITY;
  const clear = (): void => {
    clearTimeout(timer);
    at = Number.POSITIVE_INFINITY;
  };
  const set = (when: number | undefined): void => {
    if (when === undefined || when >= at) return;
    clear();
    at = when;
    timer = setTimeout(
      () => {
        at = Number.POSITIVE_INFINITY;
        ring();
      },
      Math.max(1, when - now()),
    );
  };
  return { set, clear };
};

/**
 * Sends in order of arrival, with a limited number in parallel; failed messages go back to the coalescer unless it has
 * ended.
 */
const openPost = (settings: Settings, coalescer: Coalescer, failed: () => void) => {
  const { send, report, now } = settings;
  const waiting: { readonly sending: Sending; readonly tried: (taken: boolean) => void }[] = [];
  const untried = new Set<Promise<boolean>>();
  let flying = 0;
  let failures = 0;
  let over = false;
  const post = async (sending: Sending): Promise<boolean> => {
    try {
      await send(sending.message, sending.dedupeId);
      failures = 0;
      return true;
    } catch (cause) {
      const waitMs = backoffOf(failures, shortestRetryMs, longestRetryMs);
      if (failures === 0) report("warn", "the queue does not accept messages", { error: String(cause), waitMs });
      failures += 1;
      if (!over) {
        coalescer.giveBack(sending, now(), waitMs);
        failed();
      }
      return false;
    }
  };
  const pump = (): void => {
    while (flying < atOnce) {
      const next = waiting.shift();
      if (next === undefined) return;
      flying += 1;
      void post(next.sending).then((taken) => {
        flying -= 1;
        next.tried(taken);
        pump();
      });
    }
  };
  return {
    give: (sendings: readonly Sending[]): void => {
      for (const sending of sendings) {
        const { promise, resolve } = Promise.withResolvers<boolean>();
        untried.add(promise);
        const tried = (taken: boolean): void => {
          untried.delete(promise);
          resolve(taken);
        };
        waiting.push({ sending, tried });
      }
      pump();
    },
    end: (): void => {
      over = true;
    },
    settled: async (): Promise<boolean> => (await Promise.all([...untried])).every(Boolean),
  };
};

export const openSender = (settings: Settings): Sender => {
  const coalescer = openCoalescer();
  const alarm = openAlarm(settings.now, () => {
    post.give(coalescer.due(settings.now()));
    alarm.set(coalescer.next());
  });
  const post = openPost(settings, coalescer, () => alarm.set(coalescer.next()));
  const flush = (): Promise<boolean> => {
    post.give(coalescer.flush());
    return post.settled();
  };
  return {
    offer: (sending) => {
      const now = settings.now();
      const first = coalescer.offer(sending, now);
      if (first === undefined && sending.urgent === true) alarm.set(now + windows.urgentMs);
      if (first === undefined) return;
      post.give([first]);
      alarm.set(now + windows.firstMs);
    },
    flush,
    drain: async () => {
      alarm.clear();
      post.end();
      return await flush();
    },
  };
};
