/** `npm run compat`: compares submissions of both Spark APIs and Volcano jobs with recordings of upstream's programs. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { conclude } from "../../../infra/tally.ts";
import { additions } from "../../../shared/spark/submission/additions.ts";
import { dataDir } from "../../support/data.ts";
import { apacheGroups } from "./apache/groups.ts";
import type { Case } from "./cases.ts";
import { casesIn } from "./cases.ts";
import type { Intended, Outcome } from "./outcome.ts";
import { brokenOutcome } from "./outcome.ts";
import { type Group, volcanoGroups } from "./volcano/files.ts";

const help = `npm run compat [-- [NAME…] [--family NAME] [--data DIR] [--json FILE]]

  NAME           only cases whose name contains it, e.g. 4.1.1/20-python or kitchen-sink
  --family NAME  only the recordings of this family: spark, volcano, apache
  --data DIR     the folder of recordings (spark-submit, spark-submit-executors, spark-operator, volcano, spark-kubernetes-operator); otherwise the one beside the project
  --json FILE    every outcome, with all intended differences, as data

Compares objects and arguments that we make with recorded ones: ids and moments renamed, the order of maps aside, nothing
dropped. What Rekindle adds is printed once and subtracted first. Other differences are meant, each with its reason, or
failures. Fewer than 98 % equal cases are a failure too.`;

/** The least share of equal cases; the other cases have reasons. */
const leastEqual = 0.98;

const attempt = ({ name, run }: Case): readonly Outcome[] => {
  try {
    const outcome = run();
    return outcome === undefined ? [] : [outcome];
  } catch (error) {
    return [brokenOutcome(name, error)];
  }
};

const shown = (value: unknown): string => {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

const signs = { equal: "✔", intended: "≈", different: "✖" } as const;

const tell = ({ name, verdict, problems }: Outcome): void => {
  console.log(`${signs[verdict]} ${name}`);
  for (const { path, ours, theirs } of problems) {
    console.log(`    ${path}\n      ours   ${shown(ours)}\n      theirs ${shown(theirs)}`);
  }
};

const families = ["spark", "volcano", "apache"] as const;

type Family = (typeof families)[number];

/** The families to compare: all, or the one that is named; undefined where no family has the name. */
const familiesFor = (name: string | undefined): readonly Family[] | undefined => {
  if (name === undefined) return families;
  const found = families.filter((family) => family === name);
  return found.length === 0 ? undefined : found;
};

/** Runs the cases of a group and prints only those that differ: there are thousands. */
const tellGroup = ({ name, cases }: Group, wanted: (name: string) => boolean): readonly Outcome[] => {
  if (cases.length === 0) console.log(`- ${name}: not compared`);
  const outcomes = cases.filter((one) => wanted(one.name)).flatMap(attempt);
  for (const outcome of outcomes.filter(({ verdict }) => verdict === "different")) tell(outcome);
  const meant = outcomes.filter(({ verdict }) => verdict === "intended").length;
  const equal = outcomes.filter(({ verdict }) => verdict === "equal").length;
  if (outcomes.length > 0)
    console.log(`  ${name}: ${equal} of ${outcomes.length} equal, ${meant} different as intended`);
  return outcomes;
};

const tellAdditions = (): void => {
  console.log("what Rekindle adds (shared/spark/submission/additions.ts), subtracted before anything is compared:");
  for (const { what, why } of additions) console.log(`  ${what}\n      ${why}`);
  console.log("");
};

/** Returns the key by which equal differences of many cases become one line: the reason and the end of the place. */
const kindOf = ({ path, reason }: Intended): string => `${reason} ${path.split("/").slice(-2).join("/")}`;

const tellIntended = (outcomes: readonly Outcome[]): void => {
  const all = outcomes.flatMap(({ name, intended }) => intended.map((difference) => ({ name, difference })));
  const groups = Map.groupBy(all, ({ difference }) => kindOf(difference));
  if (groups.size > 0) console.log("\nintended differences:");
  for (const [first, ...more] of groups.values()) {
    if (first === undefined) continue;
    const { path, ours, theirs, reason } = first.difference;
    const others = more.length === 0 ? "" : ` (and ${more.length} like it)`;
    console.log(
      `  ${first.name}: ${path}${others}\n      ours   ${shown(ours)}\n      theirs ${shown(theirs)}\n      ${reason}`,
    );
  }
  console.log("");
};

const failed = (message: string): void => {
  console.log(message);
  conclude({ passed: 0, failed: 1, skipped: 0 });
};

const compare = (data: string, names: readonly string[], of: readonly Family[]): Told => {
  const wanted = (name: string): boolean => names.length === 0 || names.some((part) => name.includes(part));
  tellAdditions();
  const submissions = (of.includes("spark") ? casesIn(data) : []).filter(({ name }) => wanted(name)).flatMap(attempt);
  for (const outcome of submissions) tell(outcome);
  const grouped = (family: Family, groupsIn: (folder: string) => readonly Group[]): readonly Outcome[] =>
    of.includes(family) ? groupsIn(data).flatMap((group) => tellGroup(group, wanted)) : [];
  return { submissions, jobs: grouped("volcano", volcanoGroups), apache: grouped("apache", apacheGroups) };
};

const main = (): void => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      family: { type: "string" },
      data: { type: "string" },
      json: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    console.log(help);
    return;
  }
  const data = values.data === undefined ? dataDir : resolve(values.data);
  const of = familiesFor(values.family);
  if (data === undefined || !existsSync(data)) {
    failed(`no recordings at ${values.data ?? "../shared/data"}: name their folder with --data DIR`);
  } else if (of === undefined) {
    failed(`--family ${values.family}: write one of ${families.join(", ")}`);
  } else {
    const told = compare(data, positionals, of);
    tellIntended([...told.submissions, ...told.jobs, ...told.apache]);
    tellShare(told, values.json);
  }
};

const countOf = (outcomes: readonly Outcome[], verdict: Outcome["verdict"]): number =>
  outcomes.filter((outcome) => outcome.verdict === verdict).length;

/**
 * Returns 1, a failure, if the share of equal outcomes is less than `least` although none is different; else 0. `least`
 * is 0 for Volcano jobs, where an intended row of a table differs in each of the enumerated jobs, and for the few
 * recordings of `spark.apache.org`.
 */
const tooFewOf = (what: string, outcomes: readonly Outcome[], least: number): number => {
  const [equal, intended, different] = [
    countOf(outcomes, "equal"),
    countOf(outcomes, "intended"),
    countOf(outcomes, "different"),
  ];
  if (outcomes.length === 0) return 0;
  const share = equal / outcomes.length;
  console.log(
    `${what}: ${equal} of ${outcomes.length} equal (${(share * 100).toFixed(1)} %), ${intended} different as intended`,
  );
  const tooFew = share < least && different === 0 ? 1 : 0;
  if (tooFew > 0) console.log(`fewer than ${least * 100} % are equal`);
  return tooFew;
};

type Told = {
  readonly submissions: readonly Outcome[];
  readonly jobs: readonly Outcome[];
  readonly apache: readonly Outcome[];
};

const tellShare = ({ submissions, jobs, apache }: Told, file: string | undefined): void => {
  const outcomes = [...submissions, ...jobs, ...apache];
  const tooFew =
    tooFewOf("submissions", submissions, leastEqual) +
    tooFewOf("Volcano jobs", jobs, 0) +
    tooFewOf("SparkApplications of spark.apache.org", apache, 0);
  const [equal, intended, different] = [
    countOf(outcomes, "equal"),
    countOf(outcomes, "intended"),
    countOf(outcomes, "different"),
  ];
  const none = outcomes.length === 0 ? 1 : 0;
  const tally = { passed: equal + intended - tooFew, failed: different + tooFew + none, skipped: 0 };
  conclude(tally, file === undefined ? undefined : { file, details: { equal, intended, outcomes } });
};

main();
