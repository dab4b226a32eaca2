/** Texts of the page: one spelling of states. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stateText } from "../../../shared/page/text.ts";

test("states of both families have one spelling", () => {
  const shown = ["FAILED", "Failed", "SUBMISSION_FAILED", "Succeed", "NEW"].map(stateText);
  assert.deepEqual(shown, ["Failed", "Failed", "Submission failed", "Succeed", "New"]);
});
