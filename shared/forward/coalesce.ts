/**
 * Bursts made small: the first event of a key goes at once, then one message per key per window, which grows with the
 * rate. Pure but for its own table; time comes in.
 */
import { digest, textOf } from "../core/key.ts";
import type { Sending } from "./keys.ts";

export type Windows = {
  readonly firstMs: number;
  readonly longestMs: number;
  /** Events in one window that make the next one longer; so many urgent ones go at once. */
  readonly many: number;
  /** Urgent ones beyond those wait no longer. */
  readonly urgentMs: number;
};

export const windows: Windows = { firstMs: 200, longestMs: 2_000, many: 4, urgentMs: 500 };

export type Coalescer = {
  /** The sending, if it is to go at once; else it waits for its key's window to end. */
  offer(sending: Sending, now: number): Sending | undefined;
  /** One that could not be sent: it waits for `delayMs`, together with whatever else its key gets. */
  giveBack(sending: Sending, now: number, delayMs: number): void;
  /** What is to go because its window has ended. */
  due(now: number): readonly Sending[];
  /** When the next window ends; undefined when all is quiet. */
  next(): number | undefined;
  /** Everything that waits, at once. */
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
 * The id of one event is its own; that of several is made of all of theirs. So whatever was sent before under the same
 * id was sent when all of these events had happened: to lose this copy loses nothing.
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

/** The window after one in which something waited. */
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
      // A window that is over and in which nothing waits says that the key is quiet, also before its alarm has rung.
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
