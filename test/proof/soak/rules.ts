/**
 * The rules that a life is led by: Rekindle's, or for comparison one that submits first and then writes the status, as
 * the Spark operator does.
 */
import type { Chance } from "../sweep/chance.ts";
import type { Takes } from "../sweep/fixture.ts";
import { submitThenWrite } from "./upstream.ts";

export type Rule = {
  readonly name: string;
  readonly says: string;
  /** True if all invariants hold for the rule. */
  readonly strictly: boolean;
  readonly takes?: (chance: Chance) => Takes;
};

export const ours: Rule = { name: "rekindle", says: "save, then act", strictly: true };

/** Rules for comparison. */
export const others: readonly Rule[] = [
  {
    name: "upstream",
    says: "submit, then write status; the driver's name is fixed, as the Spark operator's is today (U1, U2)",
    strictly: false,
    takes: () => submitThenWrite(() => undefined),
  },
  {
    name: "upstream-names",
    says: "submit, then write status; the driver's name is drawn, as spark-submit does by itself (U4)",
    strictly: false,
    takes: (chance) => submitThenWrite(() => chance.below(0x1_00_00_00_00).toString(16)),
  },
];

export const ruleNamed = (name: string): Rule => {
  const found = [ours, ...others].find((rule) => rule.name === name);
  if (found === undefined)
    throw new Error(`no rule ${name}; there are rekindle, ${others.map((one) => one.name).join(", ")}`);
  return found;
};
