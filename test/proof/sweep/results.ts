/** The results of a sweep: cases, violations, reach of each fault, and time to converge. */
import { allowances } from "./allowances.ts";
import type { Kind } from "./case.ts";
import type { Allowed } from "./runner.ts";
import type { Planned } from "./scenario-plan.ts";
import type { Outcome } from "./units.ts";

type Tally = {
  cases: number;
  readonly of: Record<Kind, number>;
  /** Cases that took over the end of another one. */
  recognised: number;
  violations: number;
  readonly invocations: number[];
};

export type Violation = { readonly id: string; readonly violations: readonly string[] };

export type Permitted = {
  readonly name: string;
  readonly reason: string;
  times: number;
  readonly id: string;
  readonly difference: Allowed["difference"];
};

export type Results = {
  /** Expects each fault at every place where it applies. */
  expect(planned: Pick<Planned, "reach">, wanted: (family: string) => boolean): void;
  add(scenario: string, outcome: Outcome): void;
  of(scenario: string): Tally;
  violations(): readonly Violation[];
  permitted(): readonly Permitted[];
  families(): ReadonlyMap<string, number>;
  coverage(): {
    readonly sites: number;
    readonly wanted: number;
    readonly hit: number;
    readonly missed: readonly string[];
  };
};

export const openResults = (): Results => {
  const tallies = new Map<string, Tally>();
  const wanted = new Set<string>();
  const hit = new Set<string>();
  const sites = new Set<string>();
  const families = new Map<string, number>();
  const violations: Violation[] = [];
  const permitted = new Map<string, Permitted>();
  const tallyOf = (scenario: string): Tally => {
    const none = { cases: 0, recognised: 0, violations: 0 };
    const tally = tallies.get(scenario) ?? { ...none, of: { singles: 0, pairs: 0, triples: 0 }, invocations: [] };
    tallies.set(scenario, tally);
    return tally;
  };
  const permit = (id: string, { name, difference }: Allowed): void => {
    const reason = allowances.find((one) => one.name === name)?.reason ?? "";
    const known = permitted.get(name) ?? { name, reason, times: 0, id, difference };
    known.times += 1;
    permitted.set(name, known);
  };
  return {
    expect: ({ reach }, isWanted) => {
      for (const { site, faults } of reach) {
        sites.add(site);
        for (const name of faults.filter(isWanted)) wanted.add(`${site} × ${name}`);
      }
    },
    add: (scenario, outcome) => {
      const tally = tallyOf(scenario);
      tally.cases += 1;
      if (outcome.recognised === true) tally.recognised += 1;
      tally.of[outcome.kind] += 1;
      tally.invocations.push(outcome.invocations);
      families.set(outcome.family, (families.get(outcome.family) ?? 0) + 1);
      if (outcome.site !== undefined) hit.add(`${outcome.site} × ${outcome.family}`);
      for (const allowed of outcome.allowed) permit(outcome.id, allowed);
      if (outcome.violations.length === 0) return;
      tally.violations += 1;
      violations.push({ id: outcome.id, violations: outcome.violations });
    },
    of: tallyOf,
    violations: () => violations,
    permitted: () => [...permitted.values()],
    families: () => families,
    coverage: () => {
      const missed = [...wanted].filter((one) => !hit.has(one));
      return { sites: sites.size, wanted: wanted.size, hit: wanted.size - missed.length, missed };
    },
  };
};

/** The median of some numbers, and the largest. */
export const spread = (numbers: readonly number[]): { readonly median: number; readonly worst: number } => {
  const sorted = numbers.toSorted((a, b) => a - b);
  return { median: sorted[sorted.length >> 1] ?? 0, worst: sorted.at(-1) ?? 0 };
};
