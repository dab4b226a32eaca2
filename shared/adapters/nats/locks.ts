/**
 * Locks of groups: one message per locked group, which the server removes when its time is over. Every change names
 * the sequence that it replaces, so of two workers one takes the lock, and a lock that has expired changes nothing.
 * The backlog holds messages of locked groups that the server has delivered to this worker, in the order of the
 * stream; the worker extends their acknowledgement time again and again.
 */

import * as z from "zod";
import {
  type Arrived,
  isPassing,
  messageMissing,
  type Nats,
  noSuchSequence,
  Refused,
  wrongSequence,
} from "./connection.ts";
import type { Names } from "./streams.ts";

/** A message that waits here. */
export type Waiting = {
  readonly sequence: number;
  readonly group: string;
  readonly body: string;
  /** The number of deliveries, this one included. */
  readonly received: number;
  /** The time at which the stream took the message, epoch ms. */
  readonly sentAt: number;
  /** The subject of its acknowledgement. */
  readonly reply: string;
};

export type WaitingRoom = {
  readonly add: (arrived: Arrived) => void;
  /** Begins to tell the server of them. */
  readonly start: () => void;
  /** Removes and returns the oldest messages of a group. */
  readonly take: (group: string, most: number) => readonly Waiting[];
  readonly forget: (sequence: number) => void;
  /** The number of messages by group; the group with the oldest message comes first. */
  readonly groups: () => ReadonlyMap<string, number>;
  readonly hasRoom: () => boolean;
  /** Waits for a message, a word of a free group, or the end of the time. */
  readonly change: (ms: number) => Promise<void>;
  readonly wake: () => void;
  /** Gives every message back. */
  readonly giveUp: () => Promise<void>;
};

/** The most messages of a worker: a group with more of them holds up the others of this worker. */
const mostWaiting = 1_000;

/**
 * Reads `$JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.DELIVERIES.SEQUENCE.DELIVERY.NANOSECONDS.PENDING[.RANDOM]`; undefined
 * for another subject.
 */
export const deliveryIn = (
  reply: string,
): { readonly received: number; readonly sequence: number; readonly sentAt: number } | undefined => {
  const tokens = reply.split(".");
  if (tokens[0] !== "$JS" || tokens[1] !== "ACK" || tokens.length < 9) return undefined;
  const [, , received, sequence, , nanoseconds] = tokens.slice(tokens.length === 9 ? 2 : 4);
  return { received: Number(received), sequence: Number(sequence), sentAt: Math.floor(Number(nanoseconds) / 1e6) };
};

export const openWaiting = (nats: Nats, visibilityMs: number): WaitingRoom => {
  const bySequence = new Map<number, Waiting>();
  let listener: (() => void) | undefined;
  let isChanged = false;
  let timer: NodeJS.Timeout | undefined;
  const wake = (): void => {
    isChanged = true;
    listener?.();
  };
  const inOrder = (): readonly Waiting[] => [...bySequence.values()].toSorted((a, b) => a.sequence - b.sequence);
  const keep = (one: Waiting): void => nats.tell(one.reply, "+WPI");
  return {
    add: ({ subject, reply, body }) => {
      const delivery = deliveryIn(reply);
      if (delivery === undefined) return;
      bySequence.set(delivery.sequence, { ...delivery, group: subject.split(".").at(-1) ?? "", body, reply });
      wake();
    },
    start: () => {
      timer ??= setInterval(() => {
        for (const one of bySequence.values()) keep(one);
      }, visibilityMs / 4);
      timer.unref();
    },
    take: (group, most) => {
      const taken = inOrder()
        .filter((one) => one.group === group)
        .slice(0, most);
      for (const one of taken) {
        bySequence.delete(one.sequence);
        // From here on the server counts the same time as the lock.
        keep(one);
      }
      return taken;
    },
    forget: (sequence) => void bySequence.delete(sequence),
    groups: () => {
      const counts = new Map<string, number>();
      for (const { group } of inOrder()) counts.set(group, (counts.get(group) ?? 0) + 1);
      return counts;
    },
    hasRoom: () => bySequence.size < mostWaiting,
    change: async (ms) => {
      if (!isChanged)
        await new Promise<void>((resolve) => {
          const late = setTimeout(resolve, ms);
          listener = () => {
            clearTimeout(late);
            resolve();
          };
        });
      listener = undefined;
      isChanged = false;
    },
    wake,
    giveUp: async () => {
      clearInterval(timer);
      const all = [...bySequence.values()];
      bySequence.clear();
      await Promise.allSettled(all.map(({ reply }) => nats.ask(reply, "-NAK")));
    },
  };
};

export type Lock = {
  readonly group: string;
  readonly sequence: number;
  /** Monotonic, ms: the holder regards its lock as over from then on. */
  readonly until: number;
  /** The connection on which it was taken. */
  readonly epoch: number;
};

export type Locks = {
  /** Locks the group; undefined: another worker has it. `own`: a lock of this worker that is over. */
  take(group: string, ms: number, own: Lock | undefined): Promise<Lock | undefined>;
  /** Sets the lock's end anew; undefined: it was over. */
  move(lock: Lock, ms: number): Promise<Lock | undefined>;
  /** Ends the lock; false: it was over. */
  release(lock: Lock): Promise<boolean>;
  holds(lock: Lock): Promise<boolean>;
};

const storedShape = z.object({ seq: z.number() });
const foundShape = z.object({ message: z.object({ seq: z.number(), data: z.string().catch("") }) });

type Found = { readonly sequence: number; readonly holder: string };

/** The server keeps the time of a lock in seconds. */
const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

/** Opens the locks of one worker; `holder` is its name, which no other worker has. */
export const openLocks = (nats: Nats, names: Names, holder: string): Locks => {
  /** Groups whose lock may have been taken by a request without an answer. */
  const unsure = new Set<string>();
  /** Stores the lock in place of a sequence; undefined: something else is there. */
  const put = async (group: string, ms: number, instead: number): Promise<Lock | undefined> => {
    const [until, epoch] = [performance.now() + ms, nats.epoch()];
    try {
      const { seq } = storedShape.parse(
        await nats.ask(names.lock(group), holder, {
          "Nats-Expected-Last-Subject-Sequence": String(instead),
          "Nats-TTL": String(secondsOf(ms)),
        }),
      );
      unsure.delete(group);
      return { group, sequence: seq, until, epoch };
    } catch (cause) {
      if (isPassing(cause)) unsure.add(group);
      if (cause instanceof Refused && wrongSequence.has(cause.code)) return undefined;
      throw cause;
    }
  };
  const found = async (which: object): Promise<Found | undefined> => {
    try {
      const { message } = foundShape.parse(await nats.ask(`$JS.API.STREAM.MSG.GET.${names.locks}`, which));
      return { sequence: message.seq, holder: Buffer.from(message.data, "base64").toString() };
    } catch (cause) {
      if (cause instanceof Refused && [messageMissing, noSuchSequence].includes(cause.code)) return undefined;
      throw cause;
    }
  };
  const holds: Locks["holds"] = async ({ sequence }) => (await found({ seq: sequence }))?.holder === holder;
  const isOver = ({ until }: Lock): boolean => performance.now() >= until;
  return {
    holds: async (lock) => !isOver(lock) && (await holds(lock)),
    take: async (group, ms, own) => {
      const taken = (own && (await put(group, ms, own.sequence))) ?? (await put(group, ms, 0));
      if (taken !== undefined || !unsure.has(group)) return taken;
      const there = await found({ last_by_subj: names.lock(group) });
      unsure.delete(group);
      return there?.holder === holder ? await put(group, ms, there.sequence) : undefined;
    },
    move: async (lock, ms) => (isOver(lock) ? undefined : await put(lock.group, ms, lock.sequence)),
    release: async (lock) => {
      if (isOver(lock)) return false;
      // A server that lost its disk's last writes gives a sequence to two locks.
      if (lock.epoch !== nats.epoch() && !(await holds(lock))) return false;
      try {
        await nats.ask(`$JS.API.STREAM.MSG.DELETE.${names.locks}`, { seq: lock.sequence, no_erase: true });
        return true;
      } catch (cause) {
        if (cause instanceof Refused) return false;
        throw cause;
      } finally {
        nats.tell(names.free, lock.group);
      }
    },
  };
};
