/** The filter of the list and the order of its rows. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { countsOf, parse, select, withStateToggled } from "../../../shared/page/query.ts";
import { rowOf } from "./rows.ts";

const now = 100_000;
const rows = [
  rowOf({ name: "runs", since: 99_000 }),
  rowOf({ name: "done", state: "COMPLETED", group: "completed", since: 99_500 }),
  rowOf({ name: "failed-lately", namespace: "risk", state: "FAILED", group: "failed", since: 99_000, waits: "exit 1" }),
  rowOf({ name: "failed-before", state: "FAILED", group: "failed", since: 10_000 }),
  rowOf({ name: "waits", kind: "Job", state: "Pending", group: "waiting", since: 98_000, queue: "batch-low" }),
  rowOf({ name: "nightly", kind: "ScheduledSparkApplication" }),
];
const namesFor = (text: string): readonly string[] => select(rows, parse(text), now).map(({ name }) => name);

describe("the filter of the list", () => {
  const cases: readonly (readonly [text: string, names: readonly string[]])[] = [
    ["", ["failed-lately", "failed-before", "waits", "runs", "done"]],
    ["since:2h", ["failed-lately", "waits", "runs", "done"]],
    ["state:failed", ["failed-lately", "failed-before"]],
    ["kind:job", ["waits"]],
    ["ns:risk", ["failed-lately"]],
    ["queue:low", ["waits"]],
    ["EXIT", ["failed-lately"]],
    ["state:failed state:waiting since:2h", ["failed-lately", "waits"]],
  ];
  for (const [text, names] of cases)
    test(`${JSON.stringify(text)} lists objects that need attention first, without schedules`, () =>
      assert.deepEqual(namesFor(text), names));

  test("does not apply its states to the counts", () => {
    const counts = countsOf(rows, parse("since:2h state:failed"), now);
    assert.deepEqual([counts.failed, counts.waiting, counts.running, counts.completed], [1, 1, 1, 1]);
  });

  test("gains, changes and loses its state by the chips", () => {
    assert.equal(withStateToggled("since:2h", "failed"), "since:2h state:failed");
    assert.equal(withStateToggled("since:2h state:failed", "waiting"), "since:2h state:waiting");
    assert.equal(withStateToggled("since:2h state:failed", "failed"), "since:2h");
  });
});
