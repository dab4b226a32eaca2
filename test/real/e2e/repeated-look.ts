/** A look at the cluster that is repeated beside a case, by which a case records what was ever shown. */
import { setTimeout as sleep } from "node:timers/promises";

export type Polling = {
  /** Why nothing is recorded any more: it was stopped, or the cluster could not be read. */
  readonly ended: () => Error | undefined;
  /** Resolves as `work` does; rejects if the cluster can no longer be read. */
  readonly during: <T>(work: Promise<T>) => Promise<T>;
  /** Ends after the look in progress; rejects if the cluster could not be read. */
  readonly stop: () => Promise<void>;
};

/** A server under load may leave a look unanswered; one that fails this often in a row is broken. */
const mostFailures = 20;

/** Repeats `look`, with a pause of `everyMs`, until `stop`. */
export const polling = (look: () => Promise<void>, everyMs: number): Polling => {
  let ended: Error | undefined;
  const lookAgain = async (failures: number): Promise<number> => {
    try {
      await look();
      return 0;
    } catch (cause) {
      if (failures + 1 < mostFailures) return failures + 1;
      ended = new Error(`the cluster cannot be read: ${String(cause)}`, { cause });
      throw ended;
    }
  };
  const loop = (async () => {
    let failures = 0;
    while (ended === undefined) {
      failures = await lookAgain(failures);
      await sleep(everyMs);
    }
  })();
  const broken = loop.then(() => new Promise<never>(() => {}));
  // The rejection is told by `during` and `stop`; without this, Node would end the process when neither runs.
  broken.catch(() => {});
  return {
    ended: () => ended,
    during: (work) => Promise.race([work, broken]),
    stop: async () => {
      ended ??= new Error("the cluster is no longer recorded");
      await loop;
    },
  };
};
