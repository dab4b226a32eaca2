/** Compares two transcripts of a scenario, line by line. */
import { intended } from "./differences.ts";
import type { Line } from "./scenario.ts";

export type Difference = { readonly at: string; readonly simulator: unknown; readonly real: unknown };

export type Verdict = {
  readonly scenario: string;
  readonly name: string;
  readonly differences: readonly Difference[];
  /** The reason of an intended difference. */
  readonly reason: string | undefined;
};

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

const differencesIn = (simulator: unknown, real: unknown, at = ""): readonly Difference[] => {
  if (JSON.stringify(simulator) === JSON.stringify(real)) return [];
  const comparable = isObject(simulator) && isObject(real) && Array.isArray(simulator) === Array.isArray(real);
  if (!comparable) return [{ at, simulator, real }];
  const keys = [...new Set([...Object.keys(simulator), ...Object.keys(real)])];
  return keys.flatMap((key) => differencesIn(simulator[key], real[key], `${at}.${key}`));
};

export const compare = (scenario: string, ours: readonly Line[], real: readonly Line[]): readonly Verdict[] =>
  real.map(({ name, said }, i) => {
    const same = ours[i]?.name === name;
    return {
      scenario,
      name,
      differences: same ? differencesIn(ours[i]?.said, said) : [{ at: "", simulator: ours[i]?.name, real: name }],
      reason: intended.find((each) => each.scenario === scenario && each.name === name)?.reason,
    };
  });

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 300) ?? "nothing";

/** Formats a verdict with both values. */
export const textOf = ({ scenario, name, differences, reason }: Verdict): string =>
  [
    `${reason === undefined ? "≠" : "(≠)"} ${scenario} · ${name}${reason === undefined ? "" : `: ${reason}`}`,
    ...differences.map(
      ({ at, simulator, real }) => `    ${at}\n      simulator ${shown(simulator)}\n      real      ${shown(real)}`,
    ),
  ].join("\n");

export const holds = ({ differences, reason }: Verdict): boolean => differences.length === 0 || reason !== undefined;
