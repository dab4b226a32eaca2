/** A session with one subject: runs without fault, batches of cases, each problem again alone, and its reduction. */
import { batchesFrom, batchesOf, type Case, caseName, casesOf, readCase, shuffled } from "./cases.ts";
import { type Fault, isOfAnswer, isOfSender } from "./faults.ts";
import type { Problem } from "./oracle.ts";
import type { Scenario, Subject } from "./subject.ts";
import { type Bench, type Pace, paceOf, runTrial, type Trial } from "./trial.ts";

export type Finding = {
  readonly name: string;
  readonly problems: readonly Problem[];
  /** The least that still shows it: the fault's name, and the steps of the script. */
  readonly reduced: string;
  readonly log: readonly string[];
};

export type Session = {
  readonly cases: number;
  /** Cases whose run never came to the point; they prove nothing. */
  readonly unfired: number;
  readonly findings: readonly Finding[];
  /** Problems of the controller without any fault, told once for a scenario. */
  readonly habits: readonly string[];
  /** Names of cases with a problem that did not come again alone. */
  readonly unrepeated: readonly string[];
  readonly seconds: number;
};

export type Plan = {
  readonly seed: number;
  /** The whole name of a case, or a part of names. */
  readonly part: string;
  /** Scenarios that the seed draws; 0: all. */
  readonly scenarios: number;
  /** The time in which cases begin. */
  readonly minutes: number;
  readonly atOnce: number;
  /** Cases of the order that an earlier run has tried. */
  readonly from: number;
  readonly say: (line: string) => void;
};

type Baseline = {
  readonly ends: ReadonlySet<string>;
  readonly counts: ReadonlyMap<string, number>;
  readonly habits: readonly Problem[];
  readonly pace: Pace;
};

const fresh = ({ world, subject }: Bench): string => world.fresh(subject.name);

/** Runs without fault of each scenario. */
const baselineRuns = 3;

const maxima = (trials: readonly Trial[]): ReadonlyMap<string, number> => {
  const most = new Map<string, number>();
  for (const { counts } of trials)
    for (const [pattern, count] of counts) most.set(pattern, Math.max(most.get(pattern) ?? 0, count));
  return most;
};

const baselineIn = (trials: readonly Trial[]): Baseline => ({
  ends: new Set(trials.map(({ end }) => end)),
  counts: maxima(trials),
  habits: trials.flatMap(({ problems }) => problems),
  pace: paceOf(trials),
});

/** Runs `does` for all, as many at once as `most`; the results have the order of `all`. */
const atOnce = async <T, R>(all: readonly T[], most: number, does: (one: T) => Promise<R>): Promise<readonly R[]> => {
  const results = new Map<number, R>();
  const open = [...all.entries()];
  const work = async (): Promise<void> => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) results.set(next[0], await does(next[1]));
  };
  await Promise.all(Array.from({ length: most }, work));
  return [...results].toSorted(([a], [b]) => a - b).map(([, result]) => result);
};

const baselinesOf = async (
  bench: Bench,
  scenarios: readonly Scenario[],
  most: number,
): Promise<ReadonlyMap<string, Baseline>> => {
  const runs = scenarios.flatMap((scenario) => Array.from({ length: baselineRuns }, () => scenario));
  const trials = await atOnce(runs, most, (scenario) => runTrial(bench, scenario, fresh(bench)));
  return new Map(
    scenarios.map(({ name }, nth) => [name, baselineIn(trials.slice(nth * baselineRuns, (nth + 1) * baselineRuns))]),
  );
};

/** Problems in rows that the scenario has broken without any fault are the controller's habit, and prove no fault. */
const withoutHabits = (problems: readonly Problem[], { habits }: Baseline): readonly Problem[] =>
  problems.filter(({ row }) => !habits.some((habit) => habit.row === row));

const scenarioOf = ({ subject }: Bench, name: string): Scenario => {
  const found = subject.scenarios.find((one) => one.name === name);
  if (found === undefined) throw new Error(`${subject.name} has no scenario ${name}`);
  return found;
};

type Trying = { readonly bench: Bench; readonly scenario: Scenario; readonly baseline: Baseline };

const problemsUnder = async (
  { bench, scenario, baseline }: Trying,
  fault: Fault,
): Promise<{ trial: Trial; problems: readonly Problem[] }> => {
  const ends = new Set([...baseline.ends, ...(scenario.allowed?.(fault) ?? [])]);
  const trial = await runTrial(bench, scenario, fresh(bench), { fault, ends, pace: baseline.pace });
  return { trial, problems: trial.hasFired ? withoutHabits(trial.problems, baseline) : [] };
};

const shares = (a: readonly Problem[], b: readonly Problem[]): boolean =>
  a.some(({ row }) => b.some((other) => other.row === row));

/** Leaves out steps of the script, and the time away, as long as a row is still broken. */
const reduce = async (trying: Trying, fault: Fault, problems: readonly Problem[]): Promise<string> => {
  let { scenario } = trying;
  let least = fault;
  if (fault.awayMs > 1_000) {
    const shorter = { ...fault, awayMs: 1_000 };
    if (shares((await problemsUnder(trying, shorter)).problems, problems)) least = shorter;
  }
  for (const step of scenario.steps.slice(1)) {
    const without = { ...scenario, steps: scenario.steps.filter((one) => one !== step) };
    const base = baselineIn([await runTrial(trying.bench, without, fresh(trying.bench))]);
    if (shares(base.habits, problems)) continue;
    const tried = await problemsUnder({ ...trying, scenario: without, baseline: base }, least);
    if (shares(tried.problems, problems)) scenario = without;
  }
  return `${least.kind} for ${least.awayMs / 1_000} s at ${least.pattern}#${least.occurrence}; steps: ${scenario.steps.map(({ name }) => name).join(", ")}`;
};

type Open = { readonly endMs: number; cases: number; unfired: number; findings: Finding[]; unrepeated: string[] };

type Tried = { readonly one: Case; readonly trial: Trial };

/**
 * A problem is tried again alone before it is told, three times if its fault strikes one namespace only; then it is
 * reduced, where time is left.
 */
const confirm = async (trying: Trying, tried: Tried, plan: Plan, open: Open): Promise<void> => {
  const { one, trial } = tried;
  const name = caseName(trying.bench.subject.name, one);
  const runs = Array.from({ length: isOfAnswer(one.fault) ? 3 : 1 }, () => problemsUnder(trying, one.fault));
  const again = (await Promise.all(runs)).find(({ problems }) => problems.length > 0);
  if (again === undefined) {
    open.unrepeated.push(name);
    for (const line of trial.log.slice(-60)) plan.say(`      ${line}`);
    return plan.say(`~ ${name}: not again when alone`);
  }
  plan.say(`✖ ${name}`);
  for (const { row, text } of again.problems) plan.say(`    ${row}: ${text}`);
  for (const line of again.trial.log.slice(-40)) plan.say(`      ${line}`);
  const isLate = performance.now() > open.endMs;
  const reduced = isLate ? "not reduced: the time was over" : await reduce(trying, one.fault, again.problems);
  plan.say(`    least: ${reduced}`);
  open.findings.push({ name, problems: again.problems, reduced, log: again.trial.log });
};

const runBatch = async (
  batch: readonly Case[],
  tryingOf: (one: Case) => Trying,
  plan: Plan,
  open: Open,
): Promise<void> => {
  const beganMs = performance.now();
  const tried = await atOnce(batch, plan.atOnce, async (one) => ({
    one,
    result: await problemsUnder(tryingOf(one), one.fault),
  }));
  open.cases += tried.length;
  const slowest = tried.toSorted((a, b) => b.result.trial.seconds - a.result.trial.seconds)[0];
  if (slowest !== undefined) {
    const name = caseName(tryingOf(slowest.one).bench.subject.name, slowest.one);
    const seconds = Math.round((performance.now() - beganMs) / 1_000);
    plan.say(
      `${open.cases} cases; the last ${tried.length} took ${seconds} s, the longest ${Math.round(slowest.result.trial.seconds)} s: ${name}`,
    );
  }
  for (const { one, result } of tried) {
    if (!result.trial.hasFired) open.unfired += 1;
    if (result.problems.length === 0) continue;
    plan.say(
      `? ${caseName(tryingOf(one).bench.subject.name, one)}: ${result.problems.map(({ row, text }) => `${row}: ${text}`).join("; ")}`,
    );
    await confirm(tryingOf(one), { one, trial: result.trial }, plan, open);
  }
};

const isWanted = ({ name, hasParts }: Subject, one: Case, part: string): boolean =>
  (hasParts === true || !isOfSender(one.fault)) && caseName(name, one).includes(part);

const drawn = (all: readonly Scenario[], { scenarios, seed }: Plan): readonly Scenario[] =>
  scenarios === 0 ? all : shuffled(all, seed).slice(0, scenarios);

export const runSession = async (bench: Bench, plan: Plan): Promise<Session> => {
  const beganMs = performance.now();
  const exact = readCase(plan.part);
  const wanted = exact === undefined ? drawn(bench.subject.scenarios, plan) : [scenarioOf(bench, exact.scenario)];
  const baselines = await baselinesOf(bench, wanted, plan.atOnce);
  const habits = [...baselines].flatMap(([name, { habits: found, ends }]) => {
    plan.say(`${name}, without fault: ${[...ends].join(" | ")}`);
    return [...new Set(found.map(({ row, text }) => `${name}: ${row}: ${text}`))];
  });
  for (const habit of habits) plan.say(`! without fault: ${habit}`);
  const points = new Map([...baselines].map(([name, { counts }]) => [name, counts]));
  const all = exact === undefined ? casesOf(points, plan.seed) : [exact];
  const chosen = exact === undefined ? all.filter((one) => isWanted(bench.subject, one, plan.part)) : all;
  const tryingOf = (one: Case): Trying => {
    const baseline = baselines.get(one.scenario);
    if (baseline === undefined) throw new Error(`no run of ${one.scenario} without fault`);
    return { bench, scenario: scenarioOf(bench, one.scenario), baseline };
  };
  const endMs = performance.now() + plan.minutes * 60_000;
  const open: Open = { endMs, cases: 0, unfired: 0, findings: [], unrepeated: [] };
  plan.say(`${chosen.length} cases${plan.from === 0 ? "" : `, from ${plan.from}`}`);
  for (const batch of batchesFrom(batchesOf(chosen, plan.atOnce), plan.from)) {
    if (performance.now() > open.endMs) break;
    await runBatch(batch, tryingOf, plan, open);
  }
  const { cases, unfired, findings, unrepeated } = open;
  const tried = plan.from + cases;
  if (tried < chosen.length) plan.say(`the time is over; the rest: --seed ${plan.seed} --from ${tried}`);
  return { cases, unfired, findings, unrepeated, habits, seconds: (performance.now() - beganMs) / 1_000 };
};
