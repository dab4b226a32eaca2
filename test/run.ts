/** `npm test`: every test that needs only Node, in a few processes; what needs more has its own command. */
import { globSync } from "node:fs";
import { parseArgs } from "node:util";
import { conclude } from "../infra/tally.ts";
import { runTests } from "../infra/tests.ts";
import { allCases } from "./support/cases.ts";

const lanes = [
  ["check", "types, lint, dead code, house rules"],
  ["sweep", "every crash point and fault on the simulator"],
  ["soak", "long random lives by seeds, and a rule to compare with"],
  ["mutants", "each promise of the engine removed: the sweep must fail"],
  ["compat", "recorded behaviour of upstream (--data)"],
  ["conformance", "the simulator against a real API server"],
  ["queue", "the SQS adapter against ElasticMQ"],
  ["infra:check", "AWS template, manifests, chart and image, and the rights they grant"],
  ["store", "checkpoints in a table, on DynamoDB Local"],
  ["lambda", "the test Lambda under kills"],
  ["e2e", "real control plane, real Spark"],
  ["attack", "hostile tenants, strangers and listeners against the built host, beside a neighbour"],
  ["bench", "figures"],
  ["cluster", "the control plane alone, to look at"],
] as const;

const help = `npm test [-- [FILTER…] [--all] [--name REGEX] [--first] [--json FILE]]

  FILTER        only files whose path contains it, e.g. spark or engine/step
  --all         all cases of exhaustive tests, such as a death at every call: the default takes every sixth
  --name REGEX  only tests whose name matches
  --first       starts no further file after a failure
  --json FILE   write the result as data, too, with the CPU time of each file

Runs test/**/*.test.ts without test/proof/house (that is npm run check). Not run, each its own command:
${lanes.map(([name, what]) => `  npm run ${name.padEnd(11)} ${what}`).join("\n")}`;

/** Files that take longest, most of it by waiting for processes: they begin first, so that none is left at the end alone. */
const longest = [
  "infra/published",
  "cli/process",
  "host/trouble",
  "host/gang-spark",
  "infra/floor",
  "proof/sweep/slice",
];

const rank = (file: string): number => {
  const at = longest.findIndex((part) => file.includes(part));
  return at < 0 ? longest.length : at;
};

const chosen = (filters: readonly string[]): readonly string[] =>
  globSync("test/**/*.test.ts")
    .filter((file) => !/node_modules|^test.proof.house./.test(file))
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort()
    .sort((a, b) => rank(a) - rank(b));

const main = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: "string" },
      name: { type: "string" },
      all: { type: "boolean" },
      first: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return console.log(help);
  if (values.all === true) process.env[allCases] = "1";
  const files = chosen(positionals);
  const names = values.name === undefined ? [] : [new RegExp(values.name)];
  const result = await runTests({ files, names, first: values.first ?? false });
  if (values.all !== true)
    console.log("\nrun in part: exhaustive tests, of whose cases every sixth ran (npm test -- --all)");
  console.log(`\nnot run here: ${lanes.map(([name]) => name).join(", ")} (npm test -- --help)`);
  conclude(result.tally, values.json === undefined ? undefined : { file: values.json, details: result });
};

process.chdir(new URL("..", import.meta.url).pathname);
await main();
