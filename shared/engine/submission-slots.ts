/** Limits the number of parallel submissions of a process, first in, first out, so that no submission starves. */

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
