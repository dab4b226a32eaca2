/** References between confs: their values, and bounds on the work and the text that they cause. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { understood } from "../../../../shared/spark/configuration/conf.ts";
import { assertLinear } from "../../../support/growth.ts";

/** Returns a reference to a conf. */
const refer = (key: string): string => `$\{spark.${key}}`;

type Texts = Readonly<Record<string, string>>;

const confOf = (texts: Texts) =>
  new Map(Object.entries(texts).map(([key, text]): [string, string] => [`spark.${key}`, text]));

const filled = (texts: Texts): Texts => Object.fromEntries(understood(confOf(texts)).conf);

const problemsIn = (texts: Texts): string => understood(confOf(texts)).problems.join("; ");

/** Returns a chain of confs; each refers to the next `times` times. */
const chain = (length: number, times: number, last: string): Texts =>
  Object.fromEntries([
    ...Array.from({ length }, (_, at) => [`b${at}`, refer(`b${at + 1}`).repeat(times)]),
    [`b${length}`, last],
  ]);

/** Returns confs in circles; each refers to the next twice, and to the first. */
const circles = (length: number): Texts =>
  Object.fromEntries(Array.from({ length }, (_, at) => [`b${at}`, `${refer(`b${at + 1}`).repeat(2)}${refer("b0")}`]));

const reversed = (texts: Texts): Texts => Object.fromEntries(Object.entries(texts).reverse());

describe("a conf that refers to others", () => {
  const rows: readonly (readonly [text: string, becomes: string])[] = [
    [`a${refer("y")}b${refer("y")}`, "a1b1"],
    [refer("z"), "1"],
    [refer("unset"), refer("unset")],
    [refer("x"), refer("x")],
    [refer(""), refer("")],
    [`$\{spark.y`, `$\{spark.y`],
    [`$\{spark.y $\{spark.y}`, `$\{spark.y 1`],
    [`$\{other.y}`, `$\{other.y}`],
    [`$\{spark.$\{spark.y}}`, `$\{spark.$\{spark.y}}`],
  ];
  for (const [text, becomes] of rows)
    test(`${text} becomes ${becomes}`, () => {
      const made = filled({ x: text, y: "1", z: refer("y") });
      assert.equal(made["spark.x"], becomes);
    });

  test("is not resolved if Spark takes it as it is", () => {
    assert.equal(filled({ "app.name": refer("y"), y: "1" })["spark.app.name"], refer("y"));
  });

  test("may do so through 32 levels, whatever their order", () => {
    const [deep, deeper] = [chain(32, 1, "end"), chain(33, 1, "end")];
    assert.equal(filled(deep)["spark.b0"], "end");
    assert.deepEqual([problemsIn(deep), problemsIn(reversed(deep))], ["", ""]);
    for (const texts of [deeper, reversed(deeper)])
      assert.match(
        problemsIn(texts),
        /spark\.b0: it refers to others through more than 32 levels: write the value itself/,
      );
  });

  test("may make a mebibyte of text, and no more", () => {
    const most = chain(15, 2, "sixteen letters_");
    assert.equal(filled(most)["spark.b0"]?.length, 2 ** 19);
    assert.equal(problemsIn(most), "");
    assert.match(
      problemsIn(chain(30, 2, "x")),
      /^spark\.b\d+: its references make more than 1048576 characters \(1 MiB\)/,
    );
  });

  test("is named in the problem with at most four others, and the rest is counted", () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`c${at}`, refer("b0")]));
    const problems = problemsIn({ ...many, ...chain(40, 1, "end") });
    assert.match(problems, /; and the same holds for \d+ more confs$/);
    assert.ok(problems.length < 1_000, problems);
  });
});

describe("the work of resolving references grows linearly with their text", () => {
  const rows: readonly (readonly [why: string, n: number, texts: (n: number) => Texts])[] = [
    ["references that never end", 2_500, (n) => ({ x: "${spark.".repeat(n) })],
    ["references that end in a space", 2_500, (n) => ({ x: `${"${spark.".repeat(n)} }` })],
    ["many references to one conf", 2_500, (n) => ({ x: refer("y").repeat(n), y: "1" })],
    ["chains that are too long", 500, (n) => chain(n, 1, "end")],
    ["chains that are too long, the last first", 500, (n) => reversed(chain(n, 1, "end"))],
    ["circles that double", 300, (n) => ({ ...chain(n, 2, refer("b0")), x: refer("b0") })],
    ["circles through each other", 300, circles],
  ];
  for (const [why, n, texts] of rows) test(why, () => assertLinear(n, (size) => confOf(texts(size)), understood));
});
