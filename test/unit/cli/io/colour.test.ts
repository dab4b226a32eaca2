/** Colours of the command line: on a terminal, unless NO_COLOR is set, and wherever FORCE_COLOR is set. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { columns, paintFor, printable, toneOf, wantsColour } from "../../../../shared/inspection/io/text.ts";

describe("colours", () => {
  const rows: readonly (readonly [Readonly<Record<string, string>>, boolean, boolean])[] = [
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: "1" }, true, false],
    [{ NO_COLOR: "" }, true, true],
    [{ FORCE_COLOR: "1" }, false, true],
    [{ FORCE_COLOR: "0" }, false, false],
    [{ FORCE_COLOR: "1", NO_COLOR: "1" }, true, false],
    [{ TERM: "dumb" }, true, false],
  ];
  for (const [env, terminal, wanted] of rows)
    test(`${JSON.stringify(env)} ${terminal ? "on a terminal" : "in a file"}: ${wanted ? "yes" : "no"}`, () => {
      assert.equal(wantsColour(env, terminal), wanted);
    });

  test("are the only control sequences that are printed", () => {
    const text = `${paintFor(true)("bad", "FAILED")} \u001b[2J\u001b[1Aowned\u0007\u202e\nnext`;
    assert.equal(printable(text, true), "\u001b[31mFAILED\u001b[39m \\u001b[2J\\u001b[1Aowned\\u0007\\u202e\nnext");
    assert.equal(printable(text, false), "\\u001b[31mFAILED\\u001b[39m \\u001b[2J\\u001b[1Aowned\\u0007\\u202e\nnext");
  });

  test("follow the name of the state", () => {
    const tones = ["COMPLETED", "RUNNING", "FAILED", "SUBMISSION_FAILED", "NEW", "Pending", "Aborted", "Succeed"].map(
      toneOf,
    );
    assert.deepEqual(tones, ["good", "good", "bad", "bad", "wait", "wait", "bad", "good"]);
  });
});

test("are not needed in a cell, which never begins a row of its own", () => {
  assert.equal(
    columns([
      ["NAME", "WHY"],
      ["a", "x\nFORGED ok"],
    ]),
    "NAME   WHY\na      x FORGED ok",
  );
});
