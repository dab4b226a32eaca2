/**
 * The catalogue of bad inputs for SparkApplications: the message of admission, and the outcome where no webhook is
 * installed. Each message names the field, nothing crashes, and a corrected spec runs.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { creating, good, said } from "./admission/reviews.ts";
import { bad, odd, rows } from "./input/catalogue.ts";
import { storedOf, walk } from "./input/path.ts";
import type { Row } from "./input/row.ts";

const answer = ({ spec, metadata }: Row): string => said(creating("SparkApplication", spec, metadata));

/** Returns the pattern without its anchors, because a warning has more text around it. */
const within = ({ source }: RegExp): RegExp => new RegExp(source.replace(/^\^/, "").replace(/\$$/, ""), "s");

describe("bad input", () => {
  test("is a catalogue of at least 100 rows with distinct names", () => {
    assert.ok(bad.length >= 100, `${bad.length}`);
    assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length);
  });

  for (const row of bad.filter(({ door }) => door === "refuses"))
    test(`${row.name}: admission refuses it`, () => assert.match(answer(row), row.says));

  for (const row of bad.filter(({ door }) => door === "warns"))
    test(`${row.name}: admission accepts it with a warning`, () => {
      assert.match(answer(row), /^warning: its submission will fail: /);
      assert.match(answer(row), within(row.says));
    });

  for (const row of bad)
    test(`${row.name}: without a webhook it is FAILED without objects, and a corrected application runs`, () => {
      const end = walk(storedOf(row, 1));
      assert.equal(end.made, undefined);
      assert.equal(end.memory.state.phase, "FAILED");
      assert.match(end.reason ?? `another error: ${end.error}`, row.says);
      assert.ok(end.error.length <= 4_096);
      const mended = walk(storedOf({ spec: good }, 2), row.metadata === undefined ? end.memory : undefined);
      assert.equal(mended.memory.state.phase, "SUBMITTED");
      assert.equal(mended.made?.driver.metadata.name, "app-driver");
    });
});

describe("odd input", () => {
  for (const row of odd)
    test(`${row.name}: runs`, () => {
      assert.match(answer(row), row.warns ?? /^(warning: (?!its submission).*)?$/s);
      const { made, memory } = walk(storedOf(row, 1));
      assert.equal(memory.state.phase, "SUBMITTED");
      assert.ok(made !== undefined && row.runs(made), JSON.stringify(made).slice(0, 3_000));
    });
});
