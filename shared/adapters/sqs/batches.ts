/**
 * Collects sends into batches: at most ten messages in one request, several requests at once, each group in its order.
 */

/** One message to send. Without a group its order is not guaranteed. */
export type Entry<T> = { readonly group: string | undefined; readonly fields: T };

export type Batches<T> = {
  /** Resolves when the queue has accepted the message; rejects with the queue's error for it. */
  add(entry: Entry<T>): Promise<void>;
};

/** Sends a batch, and returns for each of its entries the error, if any. */
export type Post<T> = (entries: readonly T[]) => Promise<readonly (Error | undefined)[]>;

const largest = 10;
const atOnce = 8;

type Waiting<T> = Entry<T> & { readonly resolve: () => void; readonly reject: (cause: unknown) => void };

/** Takes the next messages to send: a group with messages in flight waits, so that they cannot overtake each other. */
const takeFrom = <T>(waiting: Waiting<T>[], busy: ReadonlySet<string>): readonly Waiting<T>[] => {
  const taken: Waiting<T>[] = [];
  for (let at = 0; at < waiting.length && taken.length < largest; ) {
    const entry = waiting[at];
    if (entry === undefined || (entry.group !== undefined && busy.has(entry.group))) at += 1;
    else taken.push(...waiting.splice(at, 1));
  }
  return taken;
};

export const openBatches = <T>(post: Post<T>): Batches<T> => {
  const waiting: Waiting<T>[] = [];
  const busy = new Set<string>();
  let flights = 0;
  let scheduled = false;
  const fly = async (batch: readonly Waiting<T>[]): Promise<void> => {
    try {
      const wrong = await post(batch.map(({ fields }) => fields));
      for (const [at, { resolve, reject }] of batch.entries()) {
        if (wrong[at] === undefined) resolve();
        else reject(wrong[at]);
      }
    } catch (cause) {
      for (const { reject } of batch) reject(cause);
    }
  };
  const pump = (): void => {
    scheduled = false;
    while (flights < atOnce) {
      const batch = takeFrom(waiting, busy);
      if (batch.length === 0) return;
      const groups = batch.flatMap(({ group }) => (group === undefined ? [] : [group]));
      for (const group of groups) busy.add(group);
      flights += 1;
      void fly(batch).finally(() => {
        for (const group of groups) busy.delete(group);
        flights -= 1;
        pump();
      });
    }
  };
  return {
    add: (entry) =>
      new Promise((resolve, reject) => {
        waiting.push({ ...entry, resolve, reject });
        if (scheduled) return;
        scheduled = true;
        queueMicrotask(pump);
      }),
  };
};
