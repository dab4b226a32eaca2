/** A driver that no step ever saw: if it existed, it was lost; otherwise its attempt is submitted again. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { application, decided, driver, remembered } from "../fixtures.ts";

const { uid: _, ...unseen } = driver;
const memory = remembered({ state: { phase: "SUBMITTED" }, plannedAt: 0, driver: unseen });
const shown = (submissionID: string) => application({ status: { submissionID } });

describe("a missing driver that no step ever saw", () => {
  const rows = [
    { when: "the status names its submission", object: shown(driver.submissionId), lost: true },
    { when: "the status names another submission", object: shown("earlier"), lost: false },
    { when: "the status names no submission", object: application(), lost: false },
  ];
  for (const { when, object, lost } of rows)
    test(`${lost ? "was lost" : "is submitted again under its attempt"} when ${when}`, () => {
      const { plan } = decided({ object, memory, pods: [] });
      assert.equal(plan.memory.attempt, 1);
      assert.equal(plan.memory.state.phase === "FAILING" || plan.memory.state.phase === "FAILED", lost);
    });
});
