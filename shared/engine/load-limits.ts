/**
 * Limits of a process under load: a namespace with a backlog gives way to others, and the number of parallel
 * submissions is bounded.
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

/** The slot of one step. */
export type SubmissionSlot = {
  /** Resolves when a slot is free. "waited" means that earlier decisions are outdated. */
  enter(): Promise<"at once" | "waited">;
  /** Frees the slot; does nothing if the step never entered. */
  leave(): void;
};

export type SubmissionSlots = () => SubmissionSlot;

/** `room`: the number of slots, at least 1. Steps that wait hold no other resource. */
export const openSubmissionSlots = (room: number): SubmissionSlots => {
  let free = room;
  const waiting: (() => void)[] = [];
  const vacate = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return () => {
    let inside = false;
    return {
      enter: async () => {
        if (inside) return "at once";
        inside = true;
        if (free > 0) {
          free -= 1;
          return "at once";
        }
        await new Promise<void>((resolve) => waiting.push(resolve));
        return "waited";
      },
      leave: () => {
        if (inside) vacate();
        inside = false;
      },
    };
  };
};
