/**
 * The receiving side of NATS JetStream: pull, claim the groups, hand out, acknowledge, give back. Messages are pulled
 * from the workers' consumer: those that are there now, and one that comes later; at most one pull of each kind is
 * under way. A deployment has two queues over one connection: one for steps, one for deliveries of status updates.
 */

import type { Queue, Report } from "../../engine/ports.ts";
import type { Received, Receiver } from "../poller.ts";
import { acknowledge, type Claims, claimAll, extendAll, giveBack, nextMs, noteFree, openClaims } from "./claims.ts";
import { type Arrived, type Nats, type NatsAddress, openNats, refusalOf } from "./connection.ts";
import { openLocks, openWaiting } from "./locks.ts";
import { type Clock, consumer, type Depth, depthOf, type Names, namesOf, natsQueue, opening } from "./streams.ts";

type Pulls = {
  readonly start: () => void;
  /** Resolves when the messages that are there have arrived, at most `batch` of them. */
  readonly now: (batch: number) => Promise<void>;
  /** Asks for one message that comes within `ms`. */
  readonly later: (ms: number) => void;
};

type Pull = { left: number; readonly end: (cause?: Error) => void };

const nanosecondsPerMs = 1_000_000;
/** The longest that the server takes to say that nothing is there, ms. */
const answerMs = 5_000;
const marginMs = 1_000;
/** The time in which a pull without an answer may still bring messages, ms. */
const strayMs = 30_000;

/** Codes of the server for the usual end of a pull: no message, or its time is over. */
const usual: ReadonlySet<number> = new Set([404, 408]);
/** A code that ends nothing: the connection is alive. */
const alive = 100;

type PullOptions = { readonly nats: Nats; readonly names: Names; readonly onMessage: (arrived: Arrived) => void };

const openPulls = ({ nats, names, onMessage }: PullOptions): Pulls => {
  const pulls = new Set<Pull>();
  let later: Pull | undefined;

  const hear = (pull: Pull, arrived: Arrived): void => {
    const { status } = arrived;
    if (status === undefined) {
      onMessage(arrived);
      pull.left -= 1;
      if (pull.left <= 0) pull.end();
    } else if (status !== alive)
      pull.end(usual.has(status) ? undefined : new Error(`${status} ${arrived.description}`));
  };
  const ask = (
    request: object,
    batch: number,
    limitMs: number,
  ): { readonly pull: Pull; readonly ended: Promise<void> } => {
    const inbox = nats.inbox();
    const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
    const late = setTimeout(() => pull.end(new Error("no answer in time")), limitMs);
    const pull: Pull = {
      left: batch,
      end: (cause) => {
        clearTimeout(late);
        pulls.delete(pull);
        // A message that comes after all is taken as well: nobody else gets it before its acknowledgement is overdue.
        if (cause === undefined) unsubscribe();
        else setTimeout(unsubscribe, strayMs).unref();
        if (cause === undefined) resolve();
        else reject(cause);
      },
    };
    const unsubscribe = nats.listen(inbox, (arrived) => hear(pull, arrived));
    pulls.add(pull);
    nats.tell(`$JS.API.CONSUMER.MSG.NEXT.${names.queue}.${consumer}`, { ...request, batch }, inbox);
    return { pull, ended };
  };
  return {
    start: () => {
      nats.onReconnect(() => {
        // The server has forgotten them.
        for (const pull of pulls) pull.end();
      });
    },
    now: async (batch) => await ask({ no_wait: true }, batch, answerMs).ended,
    later: (ms) => {
      if (later !== undefined && pulls.has(later)) return;
      const { pull, ended } = ask({ expires: Math.ceil(ms) * nanosecondsPerMs }, 1, ms + marginMs);
      later = pull;
      // The next pull reports what is wrong.
      ended.catch(() => {});
    },
  };
};

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
  const explained = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
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
    receive: (waitMs) => inTurn(() => explained("receive", () => receive(waitMs))),
    acknowledge: (messages) => explained("acknowledge", () => acknowledge(claims, messages)),
    giveBack: (messages, delayMs) => explained("give back", () => giveBack(claims, messages, delayMs)),
    close: async () => {
      closed = true;
      waiting.wake();
      await waiting.giveUp();
    },
  };
};

/** The time after which the messages of a dead worker come again. A living worker extends it three times as often. */
const visibilityMs = 15_000;
/** The longest time that a step keeps its messages: the visibility timeout of the queues of AWS. */
const longestMs = 90_000;
/** Deliveries of a message before it is put aside; functions give up its key long before. The next resync sends it. */
const maxReceives = 10;

type NatsQueue = {
  readonly queue: Queue;
  /** Opens the receiving side: at most so many messages in a batch. */
  readonly receiver: (most: number) => Receiver;
  readonly depth: () => Promise<Depth>;
};

export type NatsQueues = {
  readonly steps: NatsQueue;
  readonly deliveries: NatsQueue;
  readonly close: () => Promise<void>;
};

type QueueOptions = { readonly address: NatsAddress; readonly prefix: string; readonly report: Report };

/** Opens the queues. Nothing is connected before the first use. */
export const openNatsQueues = ({ address, prefix, report }: QueueOptions): NatsQueues => {
  const nats = openNats(address);
  const queueOf = (what: "keys" | "updates"): NatsQueue => {
    const names = namesOf(`${prefix}-${what}`);
    const open = opening(nats, names, visibilityMs);
    return {
      queue: natsQueue({ nats, names, open }),
      receiver: (most) => openNatsReceiver({ nats, names, open, visibilityMs, longestMs, most, maxReceives, report }),
      depth: async () => {
        await open();
        return await depthOf(nats, names);
      },
    };
  };
  return { steps: queueOf("keys"), deliveries: queueOf("updates"), close: nats.close };
};
