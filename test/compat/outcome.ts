/** What came of one case: passed, or the differences that nobody meant. */
import type { Difference } from "./compare.ts";
import type { Kind } from "./intended.ts";
import { reasonFor } from "./intended.ts";

export type Intended = Difference & { readonly reason: string };

export type Outcome = {
  readonly name: string;
  readonly passed: boolean;
  readonly intended: readonly Intended[];
  readonly problems: readonly Difference[];
};

export const outcomeOf = (name: string, kind: Kind, found: readonly Difference[]): Outcome => {
  const judged = found.map((difference) => ({ difference, reason: reasonFor(kind, difference) }));
  const problems = judged.flatMap(({ difference, reason }) => (reason === undefined ? [difference] : []));
  return {
    name,
    passed: problems.length === 0,
    intended: judged.flatMap(({ difference, reason }) => (reason === undefined ? [] : [{ ...difference, reason }])),
    problems,
  };
};

/** A case that could not be read or ended in an exception. */
export const brokenOutcome = (name: string, error: unknown): Outcome => ({
  name,
  passed: false,
  intended: [],
  problems: [{ path: "", ours: error instanceof Error ? (error.stack ?? error.message) : error, theirs: undefined }],
});
