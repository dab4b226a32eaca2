/** The documentation is consistent: every link has a target, the README leads to every page, tables are current. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path/posix";
import { describe, test } from "node:test";
import { pageFiles } from "../../../infra/generated.ts";
import { filled, tables } from "../../../infra/reference.ts";
import { brokenBy, linksOf, pages } from "./pages.ts";
import { read, tracked } from "./sources.ts";

const links = pages.flatMap(linksOf);

/** Returns the page that a link leads to, or the pages of the folder that it leads to. */
const pagesBehind = ({ page, to }: (typeof links)[number]): readonly string[] => {
  const target = join(dirname(page), to.split("#")[0] ?? "").replace(/\/$/, "");
  return pages.filter((one) => one === target || dirname(one) === target);
};

describe("pages", () => {
  test("every link leads to a file of the repository, and to a heading that it has", () => {
    assert.ok(links.length > 100, `${links.length} links`);
    const broken = links.flatMap((link) => {
      const why = brokenBy(link);
      return why === undefined ? [] : [`${link.page}:${link.line}: ${link.to}: ${why}`];
    });
    assert.deepEqual(broken, []);
  });

  test("a link to a missing file, a missing heading or a heading of a folder is found", () => {
    const of = (to: string) => brokenBy({ page: "README.md", line: 1, to });
    assert.deepEqual(["LICENSE", "infra/docs", "#two-commands", "infra/docs/README.md"].map(of), [
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    assert.match(of("infra/docs/nothing.md") ?? "", /is not there/);
    assert.match(of("#nothing") ?? "", /has no heading #nothing/);
    assert.match(of("infra/docs#nothing") ?? "", /has no headings/);
  });

  test("every page of the documentation is reached from the README", () => {
    const found = new Set(["README.md"]);
    for (const page of found) for (const next of linksOf(page).flatMap(pagesBehind)) found.add(next);
    const documentation = pages.filter((page) => /^(infra|shared)\/docs\//.test(page));
    assert.deepEqual(
      documentation.filter((page) => !found.has(page)),
      [],
    );
  });

  test("every decision has a number of its own, which its heading repeats", () => {
    const decisions = pages.filter((page) => page.startsWith("shared/docs/decisions/"));
    const numbers = decisions.map((page) => Number(/(\d{4})-[^/]+$/.exec(page)?.[1]));
    assert.ok(numbers.length > 20);
    assert.deepEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    );
    for (const [index, page] of decisions.entries()) assert.ok(read(page).startsWith(`# ${numbers[index]}. `), page);
  });

  test("the README fits on a few screens", () => {
    assert.ok(read("README.md").split("\n").length <= 150);
  });
});

/** The cells of a row. A bar in code may be part of it. */
const cellsOf = (row: string): number =>
  row
    .replaceAll(/`[^`]*`/g, "")
    .replaceAll("\\|", "")
    .split("|").length - 2;

/** The rows of tables that have not as many cells as the row before, or no end. */
const unevenIn = (text: string): readonly string[] => {
  const lines = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, "").split("\n");
  return lines.filter((line, at) => {
    const before = lines[at - 1] ?? "";
    if (!line.startsWith("|")) return false;
    return !line.trimEnd().endsWith("|") || (before.startsWith("|") && cellsOf(line) !== cellsOf(before));
  });
};

describe("tables of the documentation", () => {
  test("have rows of equally many cells", () => {
    assert.deepEqual(unevenIn("| a | b |\n|---|---|\n| `x|y` | z |\n| one |\n| two"), ["| one |", "| two"]);
    const uneven = pages.flatMap((page) => unevenIn(read(page)).map((row) => `${page}: ${row.slice(0, 120)}`));
    assert.deepEqual(uneven, []);
  });

  test("have short cells in the pages for users, so that a row can be read as one", () => {
    const longest = 95;
    const long = pages
      .filter((page) => page.startsWith("infra/docs/") && page !== "infra/docs/reference/cli.md")
      .flatMap((page) =>
        read(page)
          .split("\n")
          .filter((line) => line.startsWith("|"))
          .flatMap((row) => row.split(" | ")),
      )
      .filter((cell) => cell.split(/\s+/).length > longest);
    assert.deepEqual(long, []);
  });

  test("are what the code says (else: npm run crds)", async () => {
    const stale = (await pageFiles())
      .map(({ path, text }) => ({ path: join("infra", path), text }))
      .filter(({ path, text }) => read(path) !== text);
    assert.deepEqual(
      stale.map(({ path }) => path),
      [],
    );
  });

  test("each stands in one page", () => {
    const marked = tracked
      .filter((path) => path.endsWith(".md"))
      .flatMap((path) => [...read(path).matchAll(/<!-- \/([a-z-]+) -->/g)].map(([, name = ""]) => name));
    assert.deepEqual(marked.toSorted(), [...Object.keys(tables), "commands"].toSorted());
  });

  test("a page that is stale is filled anew, and one with an unknown table refused", () => {
    const page = "# Exit codes\n\n<!-- exit-codes -->\nold\n<!-- /exit-codes -->\n";
    assert.match(
      filled(page),
      /<!-- exit-codes -->\n\| exit code \| meaning \|\n[\s\S]*\| 4 \| the timeout has passed \|\n<!-- \//,
    );
    assert.throws(() => filled("<!-- nothing -->\n<!-- /nothing -->"), /no table is called nothing/);
  });
});
