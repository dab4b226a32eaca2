/** `rekindle docs`: sections by words, the nearest first, with the line that says it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sectionsIn } from "../../../../shared/cli/commands/docs.ts";
import { openTerminal } from "../terminal.ts";

const pages = [
  {
    path: "infra/docs/guides/kueue.md",
    text: "# Kueue\n\nOver a quota a job waits.\n\n## Quota of a team\n\n```\n# not a heading\n```\n\nEach team has [its own](x.md).\n",
  },
  {
    path: "infra/docs/guides/page.md",
    text: `# The page\n\n${"long ".repeat(60)}a \`quota\` is shown ${"here ".repeat(60)}\n`,
  },
];
const { run } = openTerminal({ pages });

describe("rekindle docs", () => {
  test("splits a page at its headings, and not within code", () => {
    const [page] = pages;
    assert.ok(page !== undefined);
    assert.deepEqual(
      sectionsIn(page).map(({ at, headings }) => [at, ...headings]),
      [
        ["infra/docs/guides/kueue.md", "Kueue"],
        ["infra/docs/guides/kueue.md#quota-of-a-team", "Kueue", "Quota of a team"],
      ],
    );
  });

  test("shows headings with the words before texts with them, and of a long line the part with the word", async () => {
    const { out, code } = await run("docs", "QUOTA");
    assert.equal(code, 0);
    const rows = out.split("\n\n");
    assert.equal(rows[0], "infra/docs/guides/kueue.md#quota-of-a-team\n  Kueue › Quota of a team\n  # not a heading");
    assert.equal(rows[1], "infra/docs/guides/kueue.md\n  Kueue\n  Over a quota a job waits.");
    assert.match(rows[2] ?? "", /^infra\/docs\/guides\/page\.md\n {2}The page\n {2}….*a quota is shown.*…$/);
    assert.ok((rows[2]?.split("\n")[2]?.length ?? 0) <= 164);
  });

  test("needs every word, says how many more there are, and prints a section whole", async () => {
    assert.equal((await run("docs", "quota", "team")).out.split("\n\n").length, 1);
    assert.match((await run("docs", "quota", "-n", "1")).out, /\n\n2 more: -n 3 shows all$/);
    assert.match(
      (await run("docs", "team", "--whole")).out,
      /^infra.*\nKueue › Quota of a team\n\n```\n[\s\S]*its own/,
    );
  });

  test("lists the pages without words, and says what to do where nothing is found", async () => {
    assert.equal((await run("docs")).out, "infra/docs/guides/kueue.md  Kueue\ninfra/docs/guides/page.md  The page");
    const { err, code } = await run("docs", "volcano", "quota");
    assert.equal(code, 1);
    assert.match(err, /no section has volcano and quota; try fewer words/);
    assert.match((await run("docs", "a", "-n", "0")).err, /"0": write a whole number from 1 up/);
  });
});
