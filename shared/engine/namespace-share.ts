/**
 * Keeps the backlog of one namespace from taking all the time of functions. A queue hands out messages in about the
 * order of their sending, so thousands of one namespace's keys would be in front of another's ten. While messages wait
 * long, a namespace pauses in a process for the time that its last steps took, divided by its weight. Its messages go
 * to the delay queue meanwhile, which takes milliseconds, and the messages behind them come to the front.
 */

export type NamespaceShare = {
  /** True if a message of the namespace, sent at `sentAt` (epoch ms), gives way to other namespaces. */
  givesWay(namespace: string, sentAt: number): boolean;
  /** Counts a step's time, ms, against its namespace. */
  took(namespace: string, ms: number): void;
};

type Settings = {
  /** 1 for a namespace without a weight of its own. */
  readonly weightOf: (namespace: string) => number;
  /** Epoch ms. */
  readonly now: () => number;
  /** Monotonic, ms. */
  readonly clock: () => number;
};

/** The wait of a message in the queue that shows a backlog, ms; a queue without one hands out a message in less. */
const backlogMs = 5_000;

export const openNamespaceShare = ({ weightOf, now, clock }: Settings): NamespaceShare => {
  const pausedUntil = new Map<string, number>();
  return {
    // Keys without a namespace are the operator's: queues of the cluster, notices about nodes.
    givesWay: (namespace, sentAt) =>
      namespace !== "" && now() - sentAt > backlogMs && clock() < (pausedUntil.get(namespace) ?? 0),
    took: (namespace, ms) => {
      const time = clock();
      for (const [other, until] of pausedUntil) if (until <= time) pausedUntil.delete(other);
      const until = time + ms / weightOf(namespace);
      pausedUntil.set(namespace, Math.max(until, pausedUntil.get(namespace) ?? 0));
    },
  };
};
