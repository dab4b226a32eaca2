/** A heap of due items; the earliest is on top. */

export type Due<T> = { readonly at: number; readonly item: T };

export type Heap<T> = {
  push(due: Due<T>): void;
  /** Removes and returns the earliest item, if it is due. */
  take(now: number): T | undefined;
  next(): number | undefined;
  size(): number;
};

export const openHeap = <T>(): Heap<T> => {
  const items: Due<T>[] = [];
  const at = (index: number): number => items[index]?.at ?? Number.POSITIVE_INFINITY;
  const swap = (a: number, b: number): void => {
    const [x, y] = [items[a], items[b]];
    if (x === undefined || y === undefined) return;
    items[a] = y;
    items[b] = x;
  };
  const rise = (from: number): void => {
    for (let child = from; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (at(parent) <= at(child)) return;
      swap(parent, child);
      child = parent;
    }
  };
  const sink = (): void => {
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      const least = at(left + 1) < at(left) ? left + 1 : left;
      if (at(least) >= at(parent)) return;
      swap(parent, least);
      parent = least;
    }
  };
  return {
    push: (due) => rise(items.push(due) - 1),
    take: (now) => {
      const top = items[0];
      if (top === undefined || top.at > now) return undefined;
      const last = items.pop();
      if (last !== undefined && items.length > 0) {
        items[0] = last;
        sink();
      }
      return top.item;
    },
    next: () => items[0]?.at,
    size: () => items.length,
  };
};
