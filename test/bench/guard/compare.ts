/** Compares measured figures with the committed baseline. */
import * as z from "zod";

/** The committed baseline. `reason`: why its last change was made. `commit`: whose processor time counts as one. */
export const baselineShape = z.object({
  reason: z.string().min(1),
  commit: z.string(),
  figures: z.record(z.string(), z.number()),
});
export type Baseline = z.infer<typeof baselineShape>;

export type Measured = {
  readonly name: string;
  /** The least value of all rounds. */
  readonly value: number;
  /** The greatest value of all rounds; absent: there was one. */
  readonly most?: number;
  readonly unit: string;
  /** The figure is a quotient of processor times, which has the noise of a machine: a lower one is no gain to keep. */
  readonly noisy?: true;
};

export type Verdict = { readonly name: string; readonly failure?: string };

/** The greatest deviation from the baseline that passes, as a share of the baseline. */
export const tolerance = 0.1;

const percent = (share: number): string => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)} %`;

const updateLine = "npm run bench -- guard --update REASON";

/** Returns the deviation of a value as a share of the baseline. */
const shareOf = (value: number, before: number): number =>
  before === 0 ? (value === 0 ? 0 : Number.POSITIVE_INFINITY) : value / before - 1;

const failureOf = ({ name, value, most = value, noisy }: Measured, before: number | undefined): string | undefined => {
  if (before === undefined) return `${name} is not in the baseline: ${updateLine}`;
  const [least, greatest] = [shareOf(value, before), shareOf(most, before)];
  if (least > tolerance) return `${name} costs ${percent(least)}: find the cause, or accept it with ${updateLine}`;
  if (greatest < -tolerance && noisy === undefined)
    return `${name} costs ${percent(greatest)}: keep the gain with ${updateLine}`;
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

/** True if a figure is clearly above or below its baseline in every round so far, so that another round may tell more. */
export const isOff = ({ name, value, most = value, noisy }: Measured, { figures }: Baseline): boolean => {
  const before = figures[name] ?? 0;
  return value > before * (1 + tolerance / 2) || (noisy === undefined && most < before * (1 - tolerance / 2));
};

/**
 * Returns the figures, each with the least and the greatest value of all rounds: a figure costs more, or less, only if
 * each round says so.
 */
export const rangesOf = (rounds: readonly (readonly Measured[])[]): readonly Measured[] => {
  const found = new Map<string, Measured>();
  for (const figure of rounds.flat()) {
    const { value, most = value } = found.get(figure.name) ?? figure;
    found.set(figure.name, { ...figure, value: Math.min(value, figure.value), most: Math.max(most, figure.value) });
  }
  return [...found.values()];
};
