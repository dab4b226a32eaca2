/** The account of a round's work: tenants write what a round reads, and a round decides for all of them. */
import type { Work } from "./fit.ts";

/** The most looks of one round: some hundred ms, well within the time of a decision. */
const mostLooks = 600_000;

export type Shares = {
  readonly work: Work;
  /**
   * True if a group of the namespace may be looked at: the namespace has caused at most half as much work as is left.
   * However much work the groups of some namespaces cause, those of another are looked at in the same round.
   */
  readonly mayLook: (namespace: string) => boolean;
  /** Runs work for a group of the namespace, and charges it for it. */
  readonly charged: <T>(namespace: string, run: () => T) => T;
};

export const openShares = (most = mostLooks): Shares => {
  const work: Work = { looks: 0 };
  const caused = new Map<string, number>();
  return {
    work,
    mayLook: (namespace) => (caused.get(namespace) ?? 0) <= (most - work.looks) / 2,
    charged: (namespace, run) => {
      const before = work.looks;
      const result = run();
      caused.set(namespace, (caused.get(namespace) ?? 0) + work.looks - before);
      return result;
    },
  };
};
