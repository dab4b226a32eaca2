/**
 * Coalesces the messages of a key: the first event is sent at once, then one message per window, whose length grows
 * with the rate. Pure, apart from its own table; time is a parameter.
 */
import { digest, textOf } from "../core/key.ts";
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

export const windows: Windows = { firstMs: 200, longestMs: 2_000, many: 4, urgentMs: 500 };

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
