/**
 * Cases of exhaustive tests. `npm test` takes a part of them, always the same one, and `npm test -- --all`, as CI runs
 * it, takes all.
 */

/** Set to "1" by `npm test -- --all`. */
export const allCases = "TEST_ALL_CASES";

/** Returns every n-th case, from the one with index `from % n` on; all cases with `--all`. */
export const everyNth = <T>(n: number, cases: readonly T[], from = 0): readonly T[] =>
  isExhaustive() ? cases : cases.filter((_, at) => at % n === from % n);

/** True where all cases are taken. */
export const isExhaustive = (): boolean => process.env[allCases] === "1";
