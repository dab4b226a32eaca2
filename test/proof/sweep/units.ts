/** Runs the pieces of a scenario in any thread, and finds the case of an id. */

import type { Baseline } from "./baseline.ts";
import { type Case, isSeries, type Kind, type Series, type Sized, siteOf, twofold } from "./case.ts";
import { batchesOf, makingOf } from "./cases.ts";
import { openChance } from "./chance.ts";
import { type Continuations, type Forked, openContinuations } from "./continuations.ts";
import { doubleNamed } from "./doubles.ts";
import { expand } from "./expansion.ts";
import { type Fixture, openFixture } from "./fixture.ts";
import { recordedScenario } from "./recorded.ts";
import { runBaseline, runCase, type Verdict } from "./runner.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/** Cases of one piece: some of a list, by their indexes, or a series. */
export type Unit = { readonly scenario: string; readonly batch: number; readonly at: readonly number[] };

/** The chosen cases: families by a regular expression, one kind of cases, a seed; absent parts choose all. */
export type Choice = {
  readonly families?: string | undefined;
  readonly kind?: Kind | undefined;
  readonly seed?: number | undefined;
  /** The number of seeds, from `seed` on, that draw two and three faults in one run; absent: one. */
  readonly seeds?: number | undefined;
  /** Ends a piece at its first violation. */
  readonly first?: boolean | undefined;
  /** Of the cases that ended with a known continuation, this share is run to the end as well, and compared. */
  readonly recheck?: number | undefined;
};

/** A scenario with its baseline, opened once per worker. */
export type PreparedScenario = {
  readonly fixture: Fixture;
  readonly baseline: Baseline;
  readonly batches: readonly Sized[];
  readonly continuations: Continuations;
};

const ofFamilies = (sized: Sized, families: RegExp): readonly Sized[] => {
  const { batch } = sized;
  if (isSeries(batch)) return families.test(batch.at(1).family) ? [sized] : [];
  return [{ ...sized, batch: batch.filter(({ family }) => families.test(family)) }];
};

const regexOf = (families: string | undefined): RegExp => new RegExp(`^(${families ?? ".*"})$`);

const chosen = (batches: readonly Sized[], { families, kind }: Choice): readonly Sized[] => {
  const wanted = batches.filter((sized) => kind === undefined || sized.kind === kind);
  if (families === undefined) return wanted;
  return wanted.flatMap((sized) => ofFamilies(sized, regexOf(families)));
};

export const scenarioNamed = (name: string): Scenario => {
  const found = recordedScenario(name) ?? scenarios.find((scenario) => scenario.name === name);
  if (found !== undefined) return found;
  throw new Error(`no scenario ${name}; there are ${scenarios.map((scenario) => scenario.name).join(", ")}`);
};

export const prepare = async (name: string, choice: Choice = {}): Promise<PreparedScenario> => {
  const scenario = scenarioNamed(name);
  const fixture = openFixture(scenario);
  const continuations = openContinuations();
  const baseline = await runBaseline(fixture, continuations);
  return { fixture, baseline, continuations, batches: chosen(batchesOf(baseline, scenario, choice), choice) };
};

/** The result of a case, and its place. */
export type Outcome = Verdict & {
  readonly kind: Kind;
  readonly family: string;
  readonly site: string | undefined;
};

type UnitContext = { readonly prepared: PreparedScenario; readonly kind: Kind; readonly choice: Choice };

/** True if the sweep ends with this outcome. */
const isEnough = ({ choice }: UnitContext, { violations }: Outcome): boolean =>
  choice.first === true && violations.length > 0;

const comparable = (verdict: Verdict | undefined): string =>
  JSON.stringify([verdict?.violations, verdict?.invocations, verdict?.allowed, verdict?.last]);

/** Whether two runs of a case were judged alike. */
export const sameVerdict = (a: Verdict, b: Verdict | undefined): boolean => comparable(a) === comparable(b);

/**
 * Runs a case. Of those that took a known continuation, or that forked, a share is run without (`entire`), and must have
 * the same verdict.
 */
const verdictOf = async (
  { prepared, choice }: UnitContext,
  one: Case,
  forked?: Forked,
  entire: Case = one,
): Promise<Verdict> => {
  const { fixture, baseline, continuations } = prepared;
  const verdict = await runCase(fixture, baseline, one, { continuations, forked });
  const { recheck = 0 } = choice;
  const isWhole = verdict.recognised !== true && forked === undefined;
  if (isWhole || !openChance(`recheck ${one.id}`).is(recheck)) return verdict;
  const whole = await runCase(fixture, baseline, entire);
  if (sameVerdict(whole, verdict)) return verdict;
  const differ = `recheck: ${comparable(verdict).slice(0, 300)}, and run to its end ${comparable(whole).slice(0, 300)}`;
  return { ...whole, violations: [...whole.violations, differ] };
};

const outcome = async (context: UnitContext, one: Case): Promise<Outcome> => {
  const verdict = await verdictOf(context, one);
  return { ...verdict, kind: context.kind, family: one.family, site: siteOf(one) };
};

/** The cases with one fault more, or two, than a case. */
const expanded = async (context: UnitContext, beginning: Case): Promise<readonly Outcome[]> => {
  const { prepared, choice } = context;
  const families = regexOf(choice.families);
  const outcomes: Outcome[] = [];
  const told = (one: Case, verdict: Verdict): boolean => {
    const kind = one.second === undefined ? "singles" : one.third === undefined ? "pairs" : "triples";
    const found: Outcome = { ...verdict, kind, family: twofold, site: undefined };
    outcomes.push(found);
    return !isEnough(context, found);
  };
  const isChosen = ({ second = "", third = second }: Case): boolean => families.test(second) && families.test(third);
  const judge = verdictOf.bind(undefined, context);
  await expand({ prepared, judge, told, isChosen }, beginning);
  return outcomes;
};

const inSeries = async (context: UnitContext, series: Series): Promise<readonly Outcome[]> => {
  const outcomes: Outcome[] = [];
  for (const k of series.ks) {
    const found = await outcome(context, series.at(k));
    outcomes.push(found);
    if (found.last || isEnough(context, found)) break;
  }
  return outcomes;
};

/** Runs the cases of a piece. */
export const runUnit = async (prepared: PreparedScenario, unit: Unit, choice: Choice): Promise<readonly Outcome[]> => {
  const sized = prepared.batches[unit.batch];
  if (sized === undefined) throw new Error(`no batch ${unit.batch} in ${unit.scenario}`);
  const { kind, batch, expands } = sized;
  const context = { prepared, kind, choice };
  if (isSeries(batch)) return inSeries(context, batch);
  const outcomes: Outcome[] = [];
  for (const one of unit.at.flatMap((at) => batch[at] ?? [])) {
    if (expands === true) {
      outcomes.push(...(await expanded(context, one)));
      continue;
    }
    const found = await outcome(context, one);
    outcomes.push(found);
    if (isEnough(context, found)) break;
  }
  return outcomes;
};

/** The case of an id. */
export const caseOf = ({ fixture, baseline, batches }: PreparedScenario, id: string): Case | undefined => {
  const [, family, , last] = id.split("/");
  if (family === twofold) return doubleNamed(makingOf(baseline, fixture.scenario), id);
  const k = Number(last ?? 0);
  for (const { batch } of batches) {
    const found = isSeries(batch) ? [batch.at(Math.max(1, k))] : batch;
    const one = found.find((each) => each.id === id);
    if (one !== undefined) return one;
  }
  return undefined;
};
