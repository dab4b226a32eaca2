/** The executors of both fleets beside their demand, taken in equal intervals, and the shares that follow from them. */

/** At one moment: the executors that each application needs and has. */
export type Sample = { readonly needed: readonly number[]; readonly there: readonly number[] };

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);

/** The executors that do work that is needed. */
const useful = ({ needed, there }: Sample): number => sum(needed.map((count, at) => Math.min(count, there[at] ?? 0)));

const ratio = (samples: readonly Sample[], of: (one: Sample) => number, most: (one: Sample) => number): number =>
  (100 * sum(samples.map(of))) / sum(samples.map(most));

/** The quota that stayed unused while at least as much was needed, in per cent. */
export const unusedShare = (samples: readonly Sample[], quota: number): number => {
  const wanted = samples.filter(({ needed }) => sum(needed) >= quota);
  return (
    100 -
    ratio(
      wanted,
      ({ there }) => sum(there),
      () => quota,
    )
  );
};

/** The demand that executors served, of what the quota allows, in per cent. */
export const servedShare = (samples: readonly Sample[], quota: number): number =>
  ratio(samples, useful, ({ needed }) => Math.min(quota, sum(needed)));

/** The same demand with as many executors for each application, whatever it needs. */
export const withFixed = (samples: readonly Sample[], each: number): readonly Sample[] =>
  samples.map(({ needed }) => ({ needed, there: needed.map(() => each) }));
