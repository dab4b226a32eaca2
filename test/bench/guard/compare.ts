/** Compares measured figures with the committed baseline. */
import * as z from "zod";

/** The committed baseline. `reason`: why its last change was made. */
export const baselineShape = z.object({ reason: z.string().min(1), figures: z.record(z.string(), z.number()) });
export type Baseline = z.infer<typeof baselineShape>;

export type Measured = {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The figure is a quotient of processor times, which a lower value on another machine does not make stale. */
  readonly noisy?: true;
};

export type Verdict = { readonly name: string; readonly failure?: string };

/** The greatest deviation from the baseline that passes, as a share of the baseline. */
export const tolerance = 0.1;

const percent = (share: number): string => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)} %`;

const updateLine = "npm run bench -- guard --update REASON";

const failureOf = ({ name, value, noisy }: Measured, before: number | undefined): string | undefined => {
  if (before === undefined) return `${name} is not in the baseline: ${updateLine}`;
  const share = before === 0 ? (value === 0 ? 0 : Number.POSITIVE_INFINITY) : value / before - 1;
  if (share > tolerance) return `${name} costs ${percent(share)}: find the cause, or accept it with ${updateLine}`;
  if (share < -tolerance && noisy === undefined)
    return `${name} costs ${percent(share)}: keep the gain with ${updateLine}`;
  return undefined;
};

/** Returns one verdict per figure, measured or in the baseline. */
export const judge = (measured: readonly Measured[], { figures }: Baseline): readonly Verdict[] => {
  const verdicts = measured.map((figure): Verdict => {
    const failure = failureOf(figure, figures[figure.name]);
    return failure === undefined ? { name: figure.name } : { name: figure.name, failure };
  });
  const names = new Set(measured.map(({ name }) => name));
  const gone = Object.keys(figures).filter((name) => !names.has(name));
  return [...verdicts, ...gone.map((name) => ({ name, failure: `${name} was not measured: ${updateLine}` }))];
};

/** Returns the figures, each with the least value of all rounds: other load on the machine only adds. */
export const least = (rounds: readonly (readonly Measured[])[]): readonly Measured[] => {
  const found = new Map<string, Measured>();
  for (const figure of rounds.flat()) {
    const before = found.get(figure.name);
    if (before === undefined || figure.value < before.value) found.set(figure.name, figure);
  }
  return [...found.values()];
};
