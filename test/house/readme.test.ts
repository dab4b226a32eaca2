/** The README's tables of the state machine are the machine's own. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Line } from "../../shared/core/annotation.ts";
import { acts, followed } from "../../shared/spark/application/machine.ts";
import { policyLines } from "../../shared/spark/application/policies.ts";
import { losses, lossReasons } from "../../shared/spark/executors/losses.ts";
import { annotationPolicyLines } from "../../shared/volcano/job/annotation-policies.ts";

const readme = readFileSync(join(import.meta.dirname, "..", "..", "README.md"), "utf8");

const between = (mark: string): string =>
  readme.split(`<!-- ${mark} -->`)[1]?.split(`<!-- /${mark} -->`)[0]?.trim() ?? "";

const table = (head: readonly [string, string], rows: Readonly<Record<string, string>>): string =>
  [
    `| ${head.join(" | ")} |`,
    "|---|---|",
    ...Object.entries(rows).map(([from, to]) => `| \`${from === "" ? '""' : from}\` | ${to} |`),
  ].join("\n");

const asked = (lines: readonly Line[]): string =>
  [
    "| annotation | default | range | meaning |",
    "|---|---|---|---|",
    ...lines.map((line) => `| \`${line.annotation}\` | ${line.default} | ${line.range} | ${line.meaning} |`),
  ].join("\n");

const yes = (is: boolean): string => (is ? "yes" : "");
const replaced = { yes: "yes", no: "", ask: "if the driver goes on" } as const;

const lost = [
  "| reason | it means that | counts | kept | replaced |",
  "|---|---|---|---|---|",
  ...lossReasons.map((reason) => {
    const row = losses[reason];
    return `| \`${reason}\` | ${row.means} | ${yes(row.counts)} | ${yes(row.keeps)} | ${replaced[row.replaced]} |`;
  }),
].join("\n");

const tables = [
  ["acts", table(["state", "act"], acts)],
  ["followed", table(["evidence", "next state"], followed)],
  ["policies", asked(policyLines())],
  ["wishes", asked(annotationPolicyLines())],
  ["losses", lost],
] as const;

for (const [mark, wanted] of tables) {
  test(`the README's table of ${mark} is the machine's own`, () => assert.equal(between(mark), wanted));
}
