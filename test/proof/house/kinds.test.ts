/** How many files beside its family's code name each kind: the number only falls. `npm run house -- --kind NAME` lists them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { filesOf, kindNames, kindText } from "./kinds.ts";

/** The files that still name a kind; a kind that is missing here has none. */
const remaining: Readonly<Record<string, number>> = {
  SparkApplication: 9,
  ScheduledSparkApplication: 2,
  SparkConnect: 1,
  Job: 13,
  CronJob: 2,
  JobFlow: 3,
  Queue: 12,
  PodGroup: 13,
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

test("kinds of two groups with one name are told apart, each with its folder", () => {
  assert.equal(new Set(kindNames).size, kindNames.length);
  assert.match(kindText("SparkApplication"), /^shared\/spark\/application\/ {2}its folder\n/);
  assert.match(kindText("ApacheSparkApplication"), /^shared\/spark\/apache\/ {2}its folder\n/);
  assert.match(kindText("Spark"), /^no kind is named Spark; the kinds are SparkApplication, /);
});
