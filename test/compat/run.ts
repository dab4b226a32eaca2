/** `npm run compat`: native submission against what the real client and the real operator were recorded to do. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { conclude } from "../../infra/tally.ts";
import { dataDir } from "../support/data.ts";
import type { Case } from "./cases.ts";
import { casesIn } from "./cases.ts";
import type { Intended, Outcome } from "./outcome.ts";
import { brokenOutcome } from "./outcome.ts";

const help = `npm run compat [-- [NAME…] [--data DIR] [--json FILE]]

  NAME         only cases whose name contains it, e.g. 4.1.1/20-python or kitchen-sink
  --data DIR   the folder of recordings (spark-submit, spark-operator); otherwise the one beside the project
  --json FILE  every outcome, with all intended differences, as data

Compares the objects (and arguments) that we make with recorded ones, random ids renamed, nothing dropped. Differences
that are meant count as passed and are listed: one case of each, both values, the reason.`;

const attempt = ({ name, run }: Case): Outcome => {
  try {
    return run();
  } catch (error) {
    return brokenOutcome(name, error);
  }
};

const shown = (value: unknown): string => {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

const tell = (outcome: Outcome): void => {
  const meant = outcome.intended.length === 0 ? "" : ` (${outcome.intended.length} intended differences)`;
  console.log(`${outcome.passed ? "✔" : "✖"} ${outcome.name}${meant}`);
  for (const { path, ours, theirs } of outcome.problems) {
    console.log(`    ${path}\n      ours   ${shown(ours)}\n      theirs ${shown(theirs)}`);
  }
};

/** The same difference in many cases is one line: by its reason and the last part of its place. */
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

const main = (): void => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { data: { type: "string" }, json: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) {
    console.log(help);
    return;
  }
  const data = values.data === undefined ? dataDir : resolve(values.data);
  if (data === undefined || !existsSync(data)) {
    console.log(`no recordings at ${values.data ?? "../shared/data"}: name their folder with --data DIR`);
    conclude({ passed: 0, failed: 1, skipped: 0 });
    return;
  }
  const wanted = (name: string): boolean => positionals.length === 0 || positionals.some((part) => name.includes(part));
  const outcomes = casesIn(data)
    .filter(({ name }) => wanted(name))
    .map(attempt);
  for (const outcome of outcomes) tell(outcome);
  tellIntended(outcomes);
  const failed = outcomes.filter(({ passed }) => !passed).length;
  const tally = { passed: outcomes.length - failed, failed, skipped: 0 };
  conclude(tally, values.json === undefined ? undefined : { file: values.json, details: { outcomes } });
};

main();
