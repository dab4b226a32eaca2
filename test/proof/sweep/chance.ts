/** Deterministic chance: the same seed draws the same values on every machine. */

export type Chance = {
  /** A whole number from 0 to below n. */
  readonly below: (n: number) => number;
  /** True with this probability. */
  readonly is: (share: number) => boolean;
  readonly pick: <T>(from: readonly T[]) => T;
};

const fnv = (text: string): number => {
  let hash = 0x81_1c_9d_c5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01_00_01_93);
  return hash >>> 0;
};

/** mulberry32: 32 bits of state are enough to draw cases; it is no generator for secrets. */
export const openChance = (seed: string): Chance => {
  let state = fnv(seed);
  const next = (): number => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (n: number): number => Math.floor(next() * n);
  return {
    below,
    is: (share) => next() < share,
    pick: <T>(from: readonly T[]): T => {
      const found = from[below(from.length)];
      if (found === undefined) throw new Error("nothing to pick from");
      return found;
    },
  };
};
