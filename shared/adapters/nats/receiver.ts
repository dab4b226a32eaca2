/** The receiving side of NATS JetStream: pull, claim the groups, hand out, acknowledge, give back. */
import type { Report } from "../../engine/ports.ts";
import type { Received, Receiver } from "../sqs/receiver.ts";
import { openWaiting } from "./backlog.ts";
import { acknowledge, type Claims, claimAll, extendAll, giveBack, nextMs, noteFree, openClaims } from "./claims.ts";
import type { Nats } from "./connection.ts";
import { openLocks } from "./locks.ts";
import { openPulls, type Pulls } from "./pulls.ts";
import { refusalOf } from "./refusal.ts";
import type { Clock, Names } from "./streams.ts";

type Options = {
  readonly nats: Nats;
  readonly names: Names;
  readonly open: () => Promise<Clock>;
  readonly visibilityMs: number;
  /** The longest time that a step keeps its messages, ms. */
  readonly longestMs: number;
  /** Messages of a batch. */
  readonly most: number;
  /** Deliveries of a message before it is put aside. */
  readonly maxReceives: number;
  readonly report: Report;
};

/** Runs one piece of work after the other. */
const oneByOne = (): (<T>(work: () => Promise<T>) => Promise<T>) => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
};

type Gathering = {
  readonly claims: Claims;
  readonly pulls: Pulls;
  readonly most: number;
  readonly isClosed: () => boolean;
};

/** The time in which the server shows its workers a message that it has just stored, ms. */
const leastMs = 100;

/** Pulls and claims until something is claimed or the time is over. */
const gather = async ({ claims, pulls, most, isClosed }: Gathering, waitMs: number): Promise<readonly Received[]> => {
  const { waiting } = claims;
  for (const until = performance.now() + Math.max(leastMs, waitMs); !isClosed(); ) {
    if (waiting.hasRoom()) await pulls.now(most);
    const taken = await claimAll(claims, most);
    const leftMs = until - performance.now();
    if (taken.length > 0 || leftMs <= 0) return taken;
    if (waiting.hasRoom()) pulls.later(leftMs);
    await waiting.change(Math.min(leftMs, nextMs(claims)));
  }
  return [];
};

export const openNatsReceiver = (options: Options): Receiver => {
  const { nats, names, open, visibilityMs, longestMs, most, maxReceives, report } = options;
  const locks = openLocks(nats, names, nats.inbox());
  const waiting = openWaiting(nats, visibilityMs);
  const pulls = openPulls({ nats, names, onMessage: waiting.add });
  const claims = openClaims({ nats, names, locks, waiting, visibilityMs, longestMs, maxReceives, report });
  const inTurn = oneByOne();
  let closed = false;
  let started = false;
  let extending: NodeJS.Timeout | undefined;
  const start = (): void => {
    if (started) return;
    started = true;
    pulls.start();
    waiting.start();
    nats.listen(names.free, ({ body }) => noteFree(claims, body));
    // It goes on while a closed receiver's last steps end.
    extending = setInterval(() => {
      if (closed && claims.byGroup.size === 0) clearInterval(extending);
      else void extendAll(claims);
    }, visibilityMs / 3).unref();
  };
  const told = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      throw refusalOf(what, names.queue, cause);
    }
  };
  const receive = async (waitMs: number): Promise<readonly Received[]> => {
    if (closed) return [];
    await open();
    start();
    return await gather({ claims, pulls, most, isClosed: () => closed }, waitMs);
  };
  return {
    receive: (waitMs) => inTurn(() => told("receive", () => receive(waitMs))),
    acknowledge: (messages) => told("acknowledge", () => acknowledge(claims, messages)),
    giveBack: (messages, delayMs) => told("give back", () => giveBack(claims, messages, delayMs)),
    close: async () => {
      closed = true;
      waiting.wake();
      await waiting.giveUp();
    },
  };
};
