/**
 * Pulls of messages from the workers' consumer: of those that are there now, and of one that comes later. At most one of
 * each kind is under way.
 */
import type { Arrived, Nats } from "./connection.ts";
import { consumer, type Names } from "./streams.ts";

export type Pulls = {
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

type Options = { readonly nats: Nats; readonly names: Names; readonly onMessage: (arrived: Arrived) => void };

export const openPulls = ({ nats, names, onMessage }: Options): Pulls => {
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
      // The next pull tells what is wrong.
      ended.catch(() => {});
    },
  };
};
