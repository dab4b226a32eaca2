/** Room for so many submissions at once, in the order in which they came: nobody is overtaken, so nobody starves. */

/** One step's part in it. */
export type SubmissionSlot = {
  /** Resolves when there is room. "waited" means that what was decided before is old now. */
  enter(): Promise<"at once" | "waited">;
  /** Makes room for the next one; nothing when it never entered. */
  leave(): void;
};

export type SubmissionSlots = () => SubmissionSlot;

/** `room`: how many may be inside, at least 1. Those who wait hold nothing but their place. */
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
