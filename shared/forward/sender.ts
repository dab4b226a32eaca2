/**
 * Sends the messages of changes to the queue, with a limited number of parallel sends. The messages of a key are
 * coalesced: the first event is sent at once, then one message per window, whose length grows with the rate. Patient
 * events wait longer, and go with the first other one of their key. Failed messages are kept and retried, one per key
 * however long the queue is unavailable.
 */
import { digest, type Message, textOf } from "../core/key.ts";
import type { Patience } from "../core/operator.ts";
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
  /** The longest wait of patient events; 0: they wait no longer than others. */
  readonly patientMs: number;
};

export const usualWindows: Windows = { firstMs: 200, longestMs: 2_000, many: 4, urgentMs: 500, patientMs: 0 };

/** The parts of the longest wait of patient events. */
const parts: Readonly<Record<Patience, number>> = { long: 1, brief: 5, moment: 50 };

/** Returns the time that an event may wait for others of its key, ms. */
const patienceOf = ({ patience }: Sending, { patientMs }: Windows): number =>
  patience === undefined ? 0 : patientMs / parts[patience];

export type Coalescer = {
  /** Returns the sending if it must be sent at once; otherwise it waits for the end of its key's window. */
  offer(sending: Sending, now: number): Sending | undefined;
  /** Takes back a sending that failed: it waits for `delayMs`, merged with later sendings of its key. */
  giveBack(sending: Sending, now: number, delayMs: number): void;
  /** Removes and returns the sendings whose windows have ended. */
  due(now: number): readonly Sending[];
  /** The end of the next window; undefined if no window is open. */
  next(): number | undefined;
  /** True while a sending waits. */
  waits(): boolean;
  /** Removes and returns all waiting sendings. */
  flush(): readonly Sending[];
};

type Window = {
  /** Until then only urgent events are sent. */
  until: number;
  /** The time to send what waits; undefined while nothing does. */
  dueAt: number | undefined;
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

/** Adds an event that may wait until the given time. */
const add = (window: Window, sending: Sending, dueAt: number): void => {
  window.events += 1;
  window.waiting = sending;
  window.dueAt = Math.min(window.dueAt ?? dueAt, dueAt);
  if (!window.ids.includes(sending.dedupeId)) window.ids.push(sending.dedupeId);
};

const endOf = ({ until, dueAt = until }: Window): number => dueAt;

const windowOf = (until: number, lengthMs: number): Window => {
  return { until, dueAt: undefined, lengthMs, events: 0, urgent: 0, waiting: undefined, ids: [] };
};

/** Returns the end of the window that ends first. */
const firstEndOf = (windows: Iterable<Window>): number | undefined => {
  let least: number | undefined;
  for (const window of windows) if (least === undefined || endOf(window) < least) least = endOf(window);
  return least;
};

/** Returns the window that follows one in which a sending waited. */
const following = (window: Window, now: number, { firstMs, longestMs, many }: Windows): Window => {
  const grown = window.events > many ? window.lengthMs * 2 : window.lengthMs / 2;
  const lengthMs = Math.min(longestMs, Math.max(firstMs, grown));
  return windowOf(now + lengthMs, lengthMs);
};

export const openCoalescer = (limits: Windows = usualWindows): Coalescer => {
  const open = new Map<string, Window>();
  const opened = (sending: Sending, until: number): Window => {
    const window = windowOf(until, limits.firstMs);
    open.set(textOf(sending.message), window);
    return window;
  };
  /** Takes an event of a key that has sent nothing lately; only patient ones wait. */
  const first = (window: Window | undefined, sending: Sending, now: number): Sending | undefined => {
    const waitMs = patienceOf(sending, limits);
    const waits = window?.waiting === undefined ? undefined : window;
    if (waitMs > 0) return void add(waits ?? opened(sending, now), sending, now + waitMs);
    if (waits === undefined) {
      opened(sending, now + limits.firstMs);
      return sending;
    }
    add(waits, sending, now);
    open.set(textOf(sending.message), following(waits, now, limits));
    return merged(waits);
  };
  return {
    offer: (sending, now) => {
      const window = open.get(textOf(sending.message));
      // A window that has ended without a due sending shows that the key is quiet, even before its timer has fired.
      if (window === undefined || (window.until <= now && (window.dueAt ?? Number.POSITIVE_INFINITY) > now))
        return first(window, sending, now);
      const waitMs = patienceOf(sending, limits);
      const isUrgent = sending.urgent === true && waitMs === 0;
      if (isUrgent && window.urgent < limits.many) {
        window.urgent += 1;
        window.events += 1;
        return sending;
      }
      if (isUrgent) window.until = Math.min(window.until, now + limits.urgentMs);
      add(window, sending, Math.max(window.until, now + waitMs));
      return undefined;
    },
    giveBack: (sending, now, delayMs) => {
      const window = open.get(textOf(sending.message)) ?? opened(sending, 0);
      const { waiting } = window;
      window.until = Math.max(window.until, now + delayMs);
      add(window, sending, window.until);
      window.dueAt = window.until;
      window.waiting = waiting ?? sending;
    },
    due: (now) => {
      const ended = [...open].filter(([, window]) => endOf(window) <= now);
      return ended.flatMap(([key, window]) => {
        const sending = merged(window);
        if (sending === undefined) open.delete(key);
        else open.set(key, following(window, now, limits));
        return sending ?? [];
      });
    },
    next: () => firstEndOf(open.values()),
    waits: () => [...open.values()].some(({ waiting }) => waiting !== undefined),
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
  /** True while an event waits to be sent. */
  waits(): boolean;
};

type Settings = {
  readonly send: (message: Message, dedupeId: string) => Promise<void>;
  readonly report: Report;
  readonly now: () => number;
  /** The longest wait of patient events, ms; absent: they wait no longer than others. */
  readonly patientMs?: number | undefined;
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
  const limits = { ...usualWindows, patientMs: settings.patientMs ?? 0 };
  const coalescer = openCoalescer(limits);
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
      if (first === undefined) {
        const urgentMs = sending.urgent === true ? limits.urgentMs : 0;
        const waitMs = patienceOf(sending, limits) || urgentMs;
        if (waitMs > 0) alarm.set(now + waitMs);
        return;
      }
      post.give([first]);
      alarm.set(now + limits.firstMs);
    },
    flush,
    waits: coalescer.waits,
    drain: async () => {
      alarm.clear();
      post.end();
      return await flush();
    },
  };
};
