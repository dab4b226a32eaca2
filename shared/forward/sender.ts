/**
 * Sends the messages of changes to the queue, with a limited number of parallel sends. The messages of a key are
 * coalesced: the first event is sent at once, then one message per window, whose length grows with the rate. Failed
 * messages are kept and retried, one per key however long the queue is unavailable.
 */
import { digest, type Message, textOf } from "../core/key.ts";
import { backoffOf } from "../core/time.ts";
import type { Report } from "../engine/ports.ts";
import type { Sending } from "./keys.ts";

export type Windows = {
  readonly firstMs: number;
  readonly longestMs: number;
  /**
   * More events than this in one window double the next one. Up to this many urgent events in a window are sent at
   * once.
   */
  readonly many: number;
  /** The longest wait of further urgent events. */
  readonly urgentMs: number;
};

const windows: Windows = { firstMs: 200, longestMs: 2_000, many: 4, urgentMs: 500 };

export type Coalescer = {
  /** Returns the sending if it must be sent at once; otherwise it waits for the end of its key's window. */
  offer(sending: Sending, now: number): Sending | undefined;
  /** Takes back a sending that failed: it waits for `delayMs`, merged with later sendings of its key. */
  giveBack(sending: Sending, now: number, delayMs: number): void;
  /** Removes and returns the sendings whose windows have ended. */
  due(now: number): readonly Sending[];
  /** The end of the next window; undefined if no window is open. */
  next(): number | undefined;
  /** Removes and returns all waiting sendings. */
  flush(): readonly Sending[];
};

type Window = {
  until: number;
  lengthMs: number;
  events: number;
  urgent: number;
  waiting: Sending | undefined;
  ids: string[];
};

/**
 * Merges the waiting sendings of a window. A single event keeps its id; the id of several is made of all of theirs. So
 * a copy that was sent before under the same id was sent after all of these events, and losing this copy loses nothing.
 */
const merged = ({ waiting, ids }: Window): Sending | undefined => {
  if (waiting === undefined || ids.length === 1) return waiting;
  return { ...waiting, dedupeId: digest("c", ...ids) };
};

const add = (window: Window, sending: Sending): void => {
  window.events += 1;
  window.waiting = sending;
  if (!window.ids.includes(sending.dedupeId)) window.ids.push(sending.dedupeId);
};

/** Returns the window that follows one in which a sending waited. */
const following = (window: Window, now: number, { firstMs, longestMs, many }: Windows): Window => {
  const grown = window.events > many ? window.lengthMs * 2 : window.lengthMs / 2;
  const lengthMs = Math.min(longestMs, Math.max(firstMs, grown));
  return { until: now + lengthMs, lengthMs, events: 0, urgent: 0, waiting: undefined, ids: [] };
};

export const openCoalescer = (limits: Windows = windows): Coalescer => {
  const open = new Map<string, Window>();
  const opened = (sending: Sending, until: number): Window => {
    const window = { until, lengthMs: limits.firstMs, events: 0, urgent: 0, waiting: undefined, ids: [] };
    open.set(textOf(sending.message), window);
    return window;
  };
  return {
    offer: (sending, now) => {
      const window = open.get(textOf(sending.message));
      // A window that has ended without a waiting sending shows that the key is quiet, even before its timer has fired.
      if (window === undefined || (window.until <= now && window.waiting === undefined)) {
        opened(sending, now + limits.firstMs);
        return sending;
      }
      if (sending.urgent === true && window.urgent < limits.many) {
        window.urgent += 1;
        window.events += 1;
        return sending;
      }
      add(window, sending);
      if (sending.urgent === true) window.until = Math.min(window.until, now + limits.urgentMs);
      return undefined;
    },
    giveBack: (sending, now, delayMs) => {
      const window = open.get(textOf(sending.message)) ?? opened(sending, 0);
      const { waiting } = window;
      add(window, sending);
      window.waiting = waiting ?? sending;
      window.until = Math.max(window.until, now + delayMs);
    },
    due: (now) => {
      const ended = [...open].filter(([, window]) => window.until <= now);
      return ended.flatMap(([key, window]) => {
        const sending = merged(window);
        if (sending === undefined) open.delete(key);
        else open.set(key, following(window, now, limits));
        return sending ?? [];
      });
    },
    next: () => {
      let least: number | undefined;
      for (const { until } of open.values()) if (least === undefined || until < least) least = until;
      return least;
    },
    flush: () => {
      const waiting = [...open.values()].flatMap((window) => merged(window) ?? []);
      open.clear();
      return waiting;
    },
  };
};

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
