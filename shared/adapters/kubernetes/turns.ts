/**
 * Requests of a busy process by namespace: while the event loop is busy, a namespace waits with its next request for
 * the requests of those that have sent less. The turns of the queue are between steps; a step that has begun sends its
 * requests beside those of all others, and each answer takes its time of the loop.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Transport } from "../../core/http.ts";

type Options = {
  /** Namespaces share the requests by these weights. */
  readonly weightOf: (namespace: string) => number;
  /** A monotonic time, ms. */
  readonly now?: () => number;
  /** Whether the event loop has no idle time. */
  readonly isBusy?: () => boolean;
};

/** A request of this age counts half, ms. */
const halfLifeMs = 2_000;
/** A namespace waits only after this many requests, each counted by its age and the weight of the namespace. */
const much = 100;
/** A namespace waits for another if it has sent this many times as much. */
const times = 1.5;
/** The time between an answer and the next request of the same step, ms. */
const pauseMs = 5;
/** A request waits at most this long, ms: other namespaces may have a request in flight at all times. */
const longestMs = 100;
/** The event loop is busy if it was idle for less than this part of the time since the last look. */
const idlePart = 0.2;
/** The shortest time between two looks, ms. */
const lookMs = 100;

type Sender = { sent: number; countedAt: number; inFlight: number; answeredAt: number };

const pattern = /^\/apis?\/(?:[^/]+\/){1,2}namespaces\/([^/?]+)\//;

const openLoopGauge = (now: () => number): (() => boolean) => {
  let before = performance.eventLoopUtilization();
  let lookedAt = now();
  let isBusy = false;
  return () => {
    if (now() - lookedAt < lookMs) return isBusy;
    const after = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(after, before).utilization > 1 - idlePart;
    before = after;
    lookedAt = now();
    return isBusy;
  };
};

/** Opens the requests of all namespaces as senders. */
const openSenders = ({ weightOf, now }: Required<Pick<Options, "weightOf" | "now">>) => {
  const senders = new Map<string, Sender>();
  const sentBy = (sender: Sender): number => sender.sent * 2 ** ((sender.countedAt - now()) / halfLifeMs);
  const isSending = (sender: Sender): boolean => sender.inFlight > 0 || now() - sender.answeredAt < pauseMs;
  const forgetIdle = (): void => {
    for (const [name, sender] of senders) if (!isSending(sender) && sentBy(sender) < 1) senders.delete(name);
  };
  return {
    /** Whether another namespace, which has sent less, sends at the moment. */
    mustWait: (namespace: string): boolean => {
      const own = senders.get(namespace);
      const sent = own === undefined ? 0 : sentBy(own);
      if (sent < much) return false;
      for (const [name, other] of senders)
        if (name !== namespace && isSending(other) && times * sentBy(other) < sent) return true;
      return false;
    },
    begin: (namespace: string): Sender => {
      const sender = senders.get(namespace) ?? { sent: 0, countedAt: now(), inFlight: 0, answeredAt: -pauseMs };
      if (senders.size > much && !senders.has(namespace)) forgetIdle();
      senders.set(namespace, sender);
      sender.sent = sentBy(sender) + 1 / weightOf(namespace);
      sender.countedAt = now();
      sender.inFlight += 1;
      return sender;
    },
    end: (sender: Sender): void => {
      sender.inFlight -= 1;
      sender.answeredAt = now();
    },
  };
};

/**
 * Returns a transport whose requests for objects of a namespace take turns. The wait is part of the request's
 * `timeoutMs`. Streams, and requests without a namespace, do not wait.
 */
export const takingTurns = (
  transport: Transport,
  { weightOf, now = () => performance.now(), isBusy = openLoopGauge(now) }: Options,
): Transport => {
  const senders = openSenders({ weightOf, now });
  let waiting = 0;
  let next: Promise<void> | undefined;
  const aMoment = (): Promise<void> => {
    next ??= sleep(pauseMs).then(() => {
      next = undefined;
    });
    return next;
  };
  return {
    stream: (request) => transport.stream(request),
    send: async (request) => {
      const namespace = pattern.exec(request.path)?.[1];
      if (namespace === undefined) return await transport.send(request);
      const since = now();
      // The loop becomes idle because requests wait: it is asked only where none does.
      if (waiting > 0 || isBusy()) {
        waiting += 1;
        while (now() - since < longestMs && senders.mustWait(namespace)) await aMoment();
        waiting -= 1;
      }
      const sender = senders.begin(namespace);
      try {
        return await transport.send({ ...request, timeoutMs: Math.max(1, request.timeoutMs - (now() - since)) });
      } finally {
        senders.end(sender);
      }
    },
  };
};
