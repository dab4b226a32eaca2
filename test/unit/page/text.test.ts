/** Texts of the page: one spelling of states, and addresses with kinds as commands print them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { canonical, stateText } from "../../../shared/page/text.ts";

test("states of both families have one spelling", () => {
  const shown = ["FAILED", "Failed", "SUBMISSION_FAILED", "Succeed", "NEW"].map(stateText);
  assert.deepEqual(shown, ["Failed", "Failed", "Submission failed", "Succeed", "New"]);
});

test("an address takes a kind in any case, and leaves all else as it is", () => {
  for (const [given, wanted] of [
    ["sparkapplication/team-a/Etl", "SparkApplication/team-a/Etl"],
    ["JOB/team-a/train", "Job/team-a/train"],
    ["jobflow/team-a/f", "JobFlow/team-a/f"],
    ["unknown/a/b", "unknown/a/b"],
    ["", ""],
  ] as const)
    assert.equal(canonical(given), wanted);
});
