/** The outcome of one case: equal, different as intended, or different. */
import type { Difference } from "./compare.ts";
import type { Kind } from "./intended.ts";
import { reasonFor } from "./intended.ts";

export type Intended = Difference & { readonly reason: string };

export type Outcome = {
  readonly name: string;
  readonly verdict: "equal" | "intended" | "different";
  readonly intended: readonly Intended[];
  readonly problems: readonly Difference[];
};

const verdictOf = (intended: readonly Intended[], problems: readonly Difference[]): Outcome["verdict"] => {
  if (problems.length > 0) return "different";
  return intended.length > 0 ? "intended" : "equal";
};

/** Judges each difference by its reason, if it has one. */
export const judgedOutcome = (
  name: string,
  found: readonly Difference[],
  reasonOf: (difference: Difference) => string | undefined,
): Outcome => {
  const judged = found.map((difference) => ({ difference, reason: reasonOf(difference) }));
  const problems = judged.flatMap(({ difference, reason }) => (reason === undefined ? [difference] : []));
  const intended = judged.flatMap(({ difference, reason }) =>
    reason === undefined ? [] : [{ ...difference, reason }],
  );
  return { name, verdict: verdictOf(intended, problems), intended, problems };
};

export const outcomeOf = (name: string, kind: Kind, found: readonly Difference[]): Outcome =>
  judgedOutcome(name, found, (difference) => reasonFor(kind, difference));

/** The outcome of a case that could not be read or that threw. */
export const brokenOutcome = (name: string, error: unknown): Outcome => ({
  name,
  verdict: "different",
  intended: [],
  problems: [{ path: "", ours: error instanceof Error ? (error.stack ?? error.message) : error, theirs: undefined }],
});
