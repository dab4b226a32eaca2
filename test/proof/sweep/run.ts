/** `npm run sweep`: a death, a fault or a race at every point of every scenario, and the same outcome. */
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { conclude } from "../../../infra/tally.ts";
import type { Kind } from "./case.ts";
import { isPutTo } from "./cases.ts";
import { openDrawing } from "./drawing.ts";
import { forgotten } from "./ending.ts";
import { runPool } from "./pool.ts";
import { recordedName } from "./recorded.ts";
import { openResults, type Results, spread } from "./results.ts";
import { runCase } from "./runner.ts";
import { type Planned, unitsOf } from "./scenario-plan.ts";
import { families, scenarios } from "./scenarios.ts";
import { type Choice, caseOf, type Outcome, prepare, scenarioNamed, type Unit } from "./units.ts";
import { versions, violationsOf } from "./upgrade.ts";

const help = `npm run sweep [-- [--singles | --pairs | --short] [--seed N [--seeds N] | --all] [--family NAME] [--scenario NAME…] [--fault REGEX]
                     [--case ID] [--first] [--recheck SHARE] [--threads N] [--json FILE]]

  --singles        only single faults
  --pairs          only two invocations against each other, and two or three faults in one run
  --short          only single faults, each at each call site (caller, call, phase) in one scenario that has it
  --seed N         what is drawn where not everything is run (default 1); --all runs every single fault instead
  --family NAME    only the scenarios of this family: ${Object.keys(families).join(", ")}
  --scenario NAME  only this one, every single fault of it; may be given again
  --fault REGEX    only faults whose whole name matches, e.g. 'crash-.*|late'
  --case ID        replays one case and prints all that happens in it; of a file FILE.json that rekindle replay --export
                   has written, runs every single fault
  --seeds N        so many seeds, from this one on, draw the first of two and three faults in one run (default 1)
  --recheck SHARE  of the cases that end as another one did from the same state, runs this share to the end, and compares
  --first          stops at the first violation
  --threads N      as many at once (default: one per processor, at most 4)
  --json FILE      writes the result as data, too

Scenarios:
${scenarios.map(({ name, what, upstream }) => `  ${name.padEnd(20)} ${what}${upstream === undefined ? "" : ` (${upstream})`}`).join("\n")}`;

type Values = {
  readonly choice: Choice;
  readonly scenario: readonly string[];
  readonly family: string | undefined;
  readonly first: boolean;
  readonly short: boolean;
  readonly threads: number;
  readonly json: string | undefined;
};

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1).padStart(6)} s`;

/** Prints a case from its beginning to its end. */
const replay = async (id: string, json: string | undefined): Promise<void> => {
  const prepared = await prepare(id.split("/")[0] ?? "");
  const one = caseOf(prepared, id);
  if (one === undefined) throw new Error(`no case ${id}`);
  const verdict = await runCase(prepared.fixture, prepared.baseline, one, { trace: true });
  console.log(verdict.lines.join("\n"));
  for (const { name, difference } of verdict.allowed)
    console.log(`allowed: ${name}: ${difference.id}${difference.path}`);
  for (const violation of verdict.violations) console.log(`✗ ${id}: ${violation}`);
  const failed = verdict.violations.length > 0 ? 1 : 0;
  conclude(
    { passed: 1 - failed, failed, skipped: 0 },
    json === undefined ? undefined : { file: json, details: verdict },
  );
};

const short = 160;
const traceLines = 30;

/** Prints a violation with the end of its trace, without reads. */
const explain = async (id: string, violations: readonly string[]): Promise<void> => {
  console.log(`\n✗ ${id}`);
  for (const violation of violations.slice(0, 4)) console.log(`    ${violation.slice(0, 400)}`);
  const prepared = await prepare(id.split("/")[0] ?? "");
  const one = caseOf(prepared, id);
  if (one === undefined) return;
  const { lines } = await runCase(prepared.fixture, prepared.baseline, one, { trace: true });
  const telling = lines.filter((line) => !/call \d+: (GET|LIST)[^—]*$/.test(line));
  const strike = telling.findIndex((line) => line.includes("—"));
  const from = Math.max(0, strike - 3);
  for (const line of telling.slice(from, from + traceLines)) console.log(`    ${line.slice(0, short)}`);
  console.log(`    … npm run sweep -- --case ${id}`);
};

const ofScenario = (results: Results, name: string, began: number): string => {
  const { of, violations, invocations } = results.of(name);
  const { median, worst } = spread(invocations);
  const cases = `${String(of.singles).padStart(6)} singles ${String(of.pairs).padStart(6)} pairs ${String(of.triples).padStart(6)} triples`;
  const many = `${cases} ${String(violations).padStart(4)} violations`;
  return `${violations > 0 ? "✗" : "✓"} ${name.padEnd(20)} ${many}   ${median} invocations to converge, at worst ${worst}  ${seconds(began)}`;
};

const summary = (results: Results): void => {
  console.log("\nforgotten when two endings are compared:");
  for (const [what, reason] of Object.entries(forgotten)) console.log(`  ${what}: ${reason}`);
  const permitted = results.permitted();
  if (permitted.length > 0) console.log("\nintended differences, counted as passed:");
  for (const { name, reason, times, id, difference } of permitted) {
    console.log(`  ${name} (${times} times): ${reason}`);
    const { want, got } = difference;
    console.log(`    ${id}: ${difference.id}${difference.path}: ${got.slice(0, 60)} instead of ${want.slice(0, 60)}`);
  }
  const { sites, wanted, hit, missed } = results.coverage();
  console.log(`\ncoverage: ${sites} call sites (who, what, phase); ${hit} of ${wanted} pairs of site and fault hit`);
  for (const one of missed.slice(0, 10)) console.log(`  missed: ${one}`);
};

/** Prints a line of progress every 15 s. */
const openProgress = () => {
  let last = performance.now();
  return (done: number, all: number, began: number): void => {
    if (performance.now() - last < 15_000) return;
    last = performance.now();
    console.log(`  … ${done} of ${all} scenarios ${seconds(began)}`);
  };
};

const namesIn = ({ scenario, family }: Pick<Values, "scenario" | "family">): readonly string[] => {
  if (scenario.length > 0) return scenario;
  const chosen = family === undefined ? scenarios : families[family];
  if (chosen === undefined) throw new Error(`no family ${family}; there are ${Object.keys(families).join(", ")}`);
  return chosen.map(({ name }) => name);
};

/** Takes the plan of each scenario, with its run without a fault, and draws the pieces of the rest. */
const takePlans = (values: Values, results: Results): ((plan: Planned) => readonly Unit[]) => {
  const { families: faults, kind, seed } = values.choice;
  const isWanted = new RegExp(`^(${faults ?? ".*"})$`);
  const drawing = openDrawing(seed, values.short);
  return (plan) => {
    const scenario = scenarioNamed(plan.scenario);
    results.add(plan.scenario, plan.none);
    results.expect(plan, (family) => kind !== "pairs" && isPutTo(scenario, family) && isWanted.test(family));
    return unitsOf(plan, drawing);
  };
};

const sweep = async (values: Values): Promise<void> => {
  const began = performance.now();
  const results = openResults();
  const left = new Map<string, number>();
  const progress = openProgress();
  const take = takePlans(values, results);
  const names = namesIn(values);
  let finished = 0;
  const planned = (plan: Planned): readonly Unit[] => {
    const units = take(plan);
    left.set(plan.scenario, units.length);
    if (units.length === 0) finished += 1;
    return units;
  };
  const told = (unit: Unit, outcomes: readonly Outcome[]): boolean => {
    for (const outcome of outcomes) {
      results.add(unit.scenario, outcome);
      const [first] = outcome.violations;
      if (first !== undefined) console.log(`  ✗ ${outcome.id}: ${first.slice(0, short)}`);
    }
    const open = (left.get(unit.scenario) ?? 1) - 1;
    left.set(unit.scenario, open);
    if (open === 0) {
      console.log(ofScenario(results, unit.scenario, began));
      finished += 1;
    }
    progress(finished, names.length, began);
    return !(values.first && results.violations().length > 0);
  };
  await runPool({ threads: values.threads, choice: values.choice, scenarios: names, planned, told });
  for (const { id, violations } of results.violations().slice(0, values.first ? 1 : 8)) await explain(id, violations);
  summary(results);
  finish(results, values, { began, changes: await changes(values) });
};

type Change = { readonly name: string; readonly violations: readonly string[] };

/** Many running applications with the records of other versions; part of a sweep of all. */
const changes = async ({ scenario, choice }: Values): Promise<readonly Change[]> => {
  if (scenario.length > 0 || choice.families !== undefined) return [];
  const found: Change[] = [];
  for (const { name, memory } of versions) {
    const violations = await violationsOf(memory);
    found.push({ name, violations });
    console.log(
      `${violations.length > 0 ? "✗" : "✓"} 100 running applications, ${name}: ${violations.length} violations`,
    );
    for (const violation of violations.slice(0, 4)) console.log(`    ${violation}`);
  }
  return found;
};

const kinds: readonly Kind[] = ["singles", "pairs", "triples"];

type Rest = { readonly began: number; readonly changes: readonly Change[] };

const finish = (results: Results, values: Values, { began, changes: versioned }: Rest): void => {
  const { json } = values;
  const names = namesIn(values);
  const totals = names.map((name) => results.of(name));
  const cases = totals.reduce((sum, tally) => sum + tally.cases, 0);
  const [singles, pairs, triples] = kinds.map((kind) => totals.reduce((sum, { of }) => sum + of[kind], 0));
  const failed = totals.reduce((sum, tally) => sum + tally.violations, 0);
  const recognised = totals.reduce((sum, tally) => sum + tally.recognised, 0);
  const converging = spread(totals.flatMap(({ invocations }) => invocations));
  const { sites, wanted, hit, missed } = results.coverage();
  console.log(
    `${singles} single faults, ${pairs} pairs and interleavings, and ${triples} triples over ${names.length} scenarios, ${failed} violations; ${recognised} ended as another case from the same state; ${converging.median} invocations to converge, at worst ${converging.worst};${seconds(began)}`,
  );
  const restarted = versioned.filter(({ violations }) => violations.length > 0).length;
  const uncovered = missed.length > 0 && failed === 0 ? missed.length : 0;
  const details = {
    seed: values.choice.seed,
    ...{ singles, pairs, triples },
    recognised,
    scenarios: Object.fromEntries(
      names.map((name, index) => [
        name,
        {
          ...totals[index]?.of,
          recognised: totals[index]?.recognised,
          violations: totals[index]?.violations,
          ...spread(totals[index]?.invocations ?? []),
        },
      ]),
    ),
    faults: Object.fromEntries(results.families()),
    coverage: { sites, wanted, hit, missed },
    violations: results.violations(),
    versions: versioned,
    allowed: results.permitted(),
    seconds: (performance.now() - began) / 1000,
  };
  conclude(
    { passed: cases - failed + versioned.length - restarted, failed: failed + uncovered + restarted, skipped: 0 },
    json === undefined ? undefined : { file: json, details },
  );
};

/** The seed: a sweep of all draws its cases; a sweep of a part runs all of them. */
const seedOf = (values: { all?: boolean; seed?: string; scenario?: unknown; fault?: unknown }): number | undefined => {
  if (values.all) return undefined;
  if (values.seed !== undefined) return Number(values.seed);
  return values.scenario === undefined && values.fault === undefined ? 1 : undefined;
};

const kindOf = (values: { singles?: boolean; pairs?: boolean; short?: boolean }): Kind | undefined => {
  const { singles, pairs, short } = values;
  if (singles || short) return "singles";
  return pairs ? "pairs" : undefined;
};

const numberOf = (text: string | undefined, usual: number): number => Number(text ?? usual);

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      scenario: { type: "string", multiple: true },
      family: { type: "string" },
      fault: { type: "string" },
      singles: { type: "boolean" },
      pairs: { type: "boolean" },
      short: { type: "boolean" },
      seed: { type: "string" },
      seeds: { type: "string" },
      all: { type: "boolean" },
      case: { type: "string" },
      first: { type: "boolean" },
      recheck: { type: "string" },
      threads: { type: "string" },
      json: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return console.log(help);
  const isFile = values.case?.endsWith(".json") === true;
  if (values.case !== undefined && !isFile) return replay(values.case, values.json);
  const recorded = isFile ? [recordedName(resolve(values.case ?? ""))] : undefined;
  if (values.short && (values.all || values.pairs))
    throw new Error("--short chooses single faults: leave out --all and --pairs");
  const threads = Number(values.threads ?? Math.min(4, availableParallelism()));
  await sweep({
    choice: {
      families: values.fault,
      kind: kindOf(values) ?? (isFile ? "singles" : undefined),
      seed: isFile ? undefined : seedOf(values),
      first: values.first,
      seeds: numberOf(values.seeds, 1),
      recheck: numberOf(values.recheck, 0),
    },
    scenario: recorded ?? values.scenario ?? [],
    family: values.family,
    first: values.first ?? false,
    short: values.short ?? false,
    threads,
    json: values.json,
  });
};

await main();
