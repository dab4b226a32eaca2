/** How many files beside its family's code name each kind: the number only falls. `npm run house -- --kind NAME` lists them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { filesOf, kindNames } from "./kinds.ts";

/** The files that still name a kind; a kind that is missing here has none. */
const remaining: Readonly<Record<string, number>> = {
  SparkApplication: 22,
  ScheduledSparkApplication: 6,
  SparkConnect: 7,
  Job: 32,
  CronJob: 12,
  JobFlow: 6,
  Queue: 14,
  PodGroup: 18,
};

for (const kind of kindNames)
  test(`${kind} is named in no more files outside its family's code than before`, () => {
    const files = filesOf(kind);
    assert.equal(
      files.length,
      remaining[kind] ?? 0,
      `lower the number of ${kind} here, or take the name out of one of ${files.join(", ")}`,
    );
  });
