/**
 * Limits of a process under load: a namespace with a backlog gives way to others, and the number of parallel
 * submissions, and of parallel steps that create many objects, is bounded.
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
export type Slot = {
  /** Resolves when a slot is free. "waited" means that earlier decisions are outdated. */
  enter(): Promise<"at once" | "waited">;
  /** Frees the slot; does nothing if the step never entered. */
  leave(): void;
};

/** Opens the slot of a step; namespaces take turns, and steps without one are served in their order. */
export type Slots = (namespace?: string) => Slot;

/** The longest wait for a slot; `alarm` calls back after it, unless the function that it returns is called before. */
export type LongestWait = { readonly ms: number; readonly alarm: (ring: () => void, ms: number) => () => void };

/** Steps that wait, by namespace; the namespace at the front is served next. */
const openLine = () => {
  const waiting = new Map<string, (() => void)[]>();
  const drop = (namespace: string, one: () => void): void => {
    const left = (waiting.get(namespace) ?? []).filter((other) => other !== one);
    if (left.length === 0) waiting.delete(namespace);
    else waiting.set(namespace, left);
  };
  return {
    /** Serves the next step; false if none waits. */
    serve: (): boolean => {
      for (const [namespace, [first, ...others]] of waiting) {
        waiting.delete(namespace);
        if (others.length > 0) waiting.set(namespace, others);
        first?.();
        return true;
      }
      return false;
    },
    /** Resolves with true when the step is served, and with false after the longest wait. */
    join: (namespace: string, longest: LongestWait | undefined): Promise<boolean> =>
      new Promise((resolve) => {
        const serve = (): void => {
          silence?.();
          resolve(true);
        };
        const giveUp = (): void => {
          drop(namespace, serve);
          resolve(false);
        };
        const silence = longest?.alarm(giveUp, longest.ms);
        waiting.set(namespace, [...(waiting.get(namespace) ?? []), serve]);
      }),
  };
};

/** `room`: the number of slots, at least 1. After the longest wait a step goes on without a slot. Steps that wait hold no other slot. */
export const openSlots = (room: number, longest?: LongestWait): Slots => {
  let free = room;
  const line = openLine();
  const vacate = (): void => {
    if (!line.serve()) free += 1;
  };
  return (namespace = "") => {
    let state: "outside" | "inside" | "without" = "outside";
    return {
      enter: async () => {
        if (state !== "outside") return "at once";
        state = "inside";
        if (free > 0) {
          free -= 1;
          return "at once";
        }
        if (!(await line.join(namespace, longest))) state = "without";
        return "waited";
      },
      leave: () => {
        if (state === "inside") vacate();
        state = "outside";
      },
    };
  };
};
