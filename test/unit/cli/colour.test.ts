/** When the command line has colours: on a terminal, unless NO_COLOR, and wherever FORCE_COLOR asks for them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toneOf, wantsColour } from "../../../shared/cli/colour.ts";

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

  test("follow the state's word", () => {
    const tones = ["COMPLETED", "RUNNING", "FAILED", "SUBMISSION_FAILED", "NEW", "Pending", "Aborted", "Succeed"].map(
      toneOf,
    );
    assert.deepEqual(tones, ["good", "good", "bad", "bad", "wait", "wait", "bad", "good"]);
  });
});
