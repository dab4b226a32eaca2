/** Repeatable random numbers: everything random in a lane follows from one printed seed. */

/** From 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/** mulberry32: small, and deterministic on every machine. */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
};
