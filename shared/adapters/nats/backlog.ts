/**
 * Messages that the server has delivered to this worker and that no step has yet: those of locked groups, in the order
 * of the stream. The server is told again and again that they are in good hands.
 */
import type { Arrived, Nats } from "./connection.ts";

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
