/** The texts that people read are plain English; `npm run house -- --words` prints all of them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { circlesIn } from "./circles.ts";
import { ownWords } from "./run.ts";
import { literalsOf, read, sourcesUnder } from "./sources.ts";
import { allWords } from "./words.ts";

/** Phrases that confuse readers, and the words to use in their place. */
const refused: readonly (readonly [RegExp, string])[] = [
  [/\w\(s\)/, "the singular or the plural: counted() of core"],
  [/\bmend(ed|s)?\b(?!\}\))/, "correct, repair or fix"],
  [/\bmade anew\b/, "created again, rebuilt or replaced"],
  [/\bof ours\b/, "that Rekindle runs"],
  [/\bcome to (their|its) end\b/, "finish"],
  [/\bdoes not ask\b/, "--yes skips the question"],
  [/\bnothing, it has\b/, "nothing: it has"],
  [/\btold of: /, "causes the event"],
  [/\bgone on\b/, "continued"],
  [/\bstands? aside\b/, "is in standby"],
  [/\blets? go of\b/, "deletes, gives up"],
  [/\bsay (?:--|rekindle)/, "use"],
  [/\bpiped in\b/, "standard input"],
  [/\bis told of\b/, "receives"],
  [/(?<!there )\bis no (?!longer|answer|older|other)[a-z]/, "is not a"],
];

const found = allWords();

describe("words that people read", () => {
  test("are found: strings and templates with their lines, holes by their names, no identifiers and no comments", () => {
    const source = [
      `const a = \`waits for $\{name} to end\`; // not this comment text`,
      'const b = "kebab-case"; const c = "a driver to start";',
      `const d = \`$\{list.map((one) => one.metadata.name).join()} are gone\`;`,
    ].join("\n");
    assert.deepEqual(
      literalsOf(source).map(({ line, text }) => `${line} ${text}`),
      ["1 waits for {name} to end", "2 kebab-case", "2 a driver to start", "3 {…} are gone"],
    );
    assert.ok(found.length > 1_500, `${found.length} texts`);
    const shown = (end: string, says: string) =>
      assert.ok(
        found.some(({ file, text }) => file.endsWith(end) && text.includes(says)),
        `${end}: ${says}`,
      );
    shown("spark/application/states.ts", "the driver to finish");
    shown("aws/template.yaml", "one stack per cluster");
    shown("grafana/alerts.yaml", "The API server does not answer");
    shown("rekindle/values.yaml", "in a Secret");
    shown("templates/NOTES.txt", "Rekindle runs in namespace");
  });

  for (const [phrase, instead] of refused)
    test(`do not say ${phrase.source}: ${instead}`, () => {
      const odd = found.filter(({ text }) => phrase.test(text));
      assert.deepEqual(
        odd.map(({ file, line, text }) => `${file}:${line}: ${text}`),
        [],
      );
    });
});

describe("a file", () => {
  test("refers to no section of a document outside of the repository", () => {
    const section = /\u00a7/;
    const files = sourcesUnder("shared", "functions", "infra", "test");
    assert.ok(files.length > 1_000, `${files.length} files`);
    assert.deepEqual(
      files.filter((file) => section.test(read(file))),
      [],
    );
  });
});

describe("the map of the house", () => {
  test("knows the words of our own", () => {
    assert.ok(ownWords().includes("step") && ownWords().includes("watched"), ownWords().join());
    assert.ok(ownWords().length >= 20);
  });

  test("finds circles, each once, and none in a line", () => {
    const graph = (links: Readonly<Record<string, readonly string[]>>) =>
      new Map(Object.entries(links).map(([from, to]) => [from, new Set(to)]));
    assert.deepEqual(circlesIn(graph({ a: ["b"], b: ["c"], c: [] })), []);
    assert.deepEqual(circlesIn(graph({ a: ["b"], b: ["a", "c"], c: ["d"], d: ["c"], e: ["a"] })), [
      ["a", "b"],
      ["c", "d"],
    ]);
  });
});
