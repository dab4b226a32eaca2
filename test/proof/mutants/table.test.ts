/** Tables of mutants: what a block says, and which lines are refused; and the arguments that choose mutants. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { mutants, tables } from "./all.ts";
import { readArguments } from "./arguments.ts";
import { mutantsIn } from "./table.ts";

const table = `# A comment.

@ shared/a.ts tests unit/a.test.ts unit/b.test.ts
one: a promise: with a colon
- if (a) {
-   b();
+  c: d
= const c = 1
two: another
- e

@ shared/b.ts sweep retry change faults pause-.*|frozen
three: a third
- f
+ g
`;

describe("a table of mutants", () => {
  test("has blocks of one file and one judge, and edits of any number of lines", () => {
    const [file, tests] = ["shared/a.ts", ["unit/a.test.ts", "unit/b.test.ts"]];
    assert.deepEqual(mutantsIn(table), [
      {
        ...{ file, tests, name: "one", promise: "a promise: with a colon" },
        ...{ find: "if (a) {\n  b();", replace: " c: d", calls: "const c = 1" },
      },
      { file, tests, name: "two", promise: "another", find: "e", replace: "" },
      {
        ...{ file: "shared/b.ts", scenarios: ["retry", "change"], fault: "pause-.*|frozen" },
        ...{ name: "three", promise: "a third", find: "f", replace: "g" },
      },
    ]);
  });

  const wrong = [
    ["without a judge", "@ shared/a.ts\none: a\n- b", /no head of a block/],
    ["whose edit comes before its name", "@ shared/a.ts tests a\n- b", /no name and promise/],
    ["with a line that has no sign", "@ shared/a.ts tests a\none: a\n- b\nc", /without a sign: c/],
    ["that finds nothing", "@ shared/a.ts tests a\none: a\n+ b", /finds nothing/],
  ] as const;
  for (const [what, text, says] of wrong) test(`${what} is refused`, () => assert.throws(() => mutantsIn(text), says));

  test("is read, whichever it is", () => {
    const files = readdirSync(join(import.meta.dirname, "tables"));
    assert.deepEqual(files.sort(), tables.map((name) => `${name}.txt`).sort());
  });
});

describe("npm run mutants", () => {
  const [{ name = "" } = {}] = mutants;
  const rows = [
    [
      "an option that it does not have",
      ["--mutant", name],
      /^Unknown option '--mutant'\. Names of mutants are positional/,
    ],
    ["a name that no mutant has", ["absent"], /^no mutant absent\. Names/],
    ["names beside --short", ["--short", name], /^--short chooses the mutants: leave out the names/],
  ] as const;
  for (const [what, args, says] of rows)
    test(`refuses ${what} with a sentence`, () => {
      const read = readArguments(args);
      assert.match("failure" in read ? read.failure : "", says);
    });

  test("takes names", () => {
    const read = readArguments([name]);
    assert.deepEqual("chosen" in read && read.chosen, [mutants[0]]);
  });
});
