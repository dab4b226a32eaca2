/** Packages do the work that they are there for. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { allUses, asked, dependencies, importIn, packagesText, purposes, usesOf } from "./packages.ts";

const uses = allUses();

describe("packages", () => {
  test("each has a reason, and each reason a package", () => {
    assert.deepEqual(Object.keys(purposes).sort(), dependencies());
  });

  test("those that were asked for are imported by files of the product for their work", () => {
    const idle = uses.filter(({ name, files }) => asked.some((one) => one === name) && files.length === 0);
    assert.deepEqual(
      idle.map(({ name }) => name),
      [],
    );
  });

  test("those without a file of the product are tools and parts of tests", () => {
    const without = uses.filter(({ files }) => files.length === 0);
    const odd = without.filter(
      ({ why }) => !/\btests\b|as a program|needed by|^types of|^the Node|traces that/.test(why),
    );
    assert.deepEqual(
      odd.map(({ name }) => name),
      [],
    );
  });
});

const rows: readonly (readonly [text: string, expected: "work" | "types" | undefined])[] = [
  ['import { a } from "pkg";', "work"],
  ['import * as a from "pkg/sub";', "work"],
  ['import {\n  a,\n  type B,\n} from "pkg";', "work"],
  ['import "pkg";', "work"],
  ['export { a } from "pkg";', "work"],
  ['const a = await import("pkg");', "work"],
  ['const library = "pkg";', "work"],
  ['const a: A = createRequire(import.meta.url)("pkg");', "work"],
  ['import type { A } from "pkg";', "types"],
  ['import type {\n  A,\n} from "pkg";', "types"],
  ['type A = typeof import("pkg");', "types"],
  ['import { a } from "pkg-other";', undefined],
  ['import { a } from "@other/pkg";', undefined],
  ['console.log("pkg");', undefined],
];
for (const [text, expected] of rows)
  test(`${JSON.stringify(text)} imports a package for ${expected ?? "nothing"}`, () => {
    assert.equal(importIn(text, "pkg"), expected);
  });

test("a package that only tests import is named as such, and so is one of which only types are imported", () => {
  const product = new Map([["shared/a.ts", 'import type { A } from "zod";']]);
  const tests = new Map([["test/a.test.ts", 'import { a } from "hono";']]);
  const text = packagesText(usesOf(["hono", "zod"], product, tests));
  assert.match(text, /^hono \(asked for\): .*; only tests import it \(1\)$/m);
  assert.match(text, /^zod \(asked for\): .*; types only\n {2}shared\/a\.ts \(types\)$/m);
});
