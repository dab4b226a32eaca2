/** Kinds on the page: their names in addresses, lists and commands are those of their declarations. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { canonical, commandFor, kindText, nameInCommands } from "../../../shared/page/kinds.ts";
import type { Action } from "../../../shared/page/wire.ts";

test("an address takes a kind in any case, and leaves all else as it is", () => {
  for (const [given, wanted] of [
    ["sparkapplication/team-a/Etl", "SparkApplication/team-a/Etl"],
    ["JOB/team-a/train", "Job/team-a/train"],
    ["jobflow/team-a/f", "JobFlow/team-a/f"],
    ["apachesparkapplication/team-a/pi", "ApacheSparkApplication/team-a/pi"],
    ["unknown/a/b", "unknown/a/b"],
    ["", ""],
  ] as const)
    assert.equal(canonical(given), wanted);
});

test("kinds of one name in two groups have two names", () => {
  assert.deepEqual(["SparkApplication", "ApacheSparkApplication", "Job", "Unknown"].map(kindText), [
    "Spark",
    "Spark (Apache)",
    "Job",
    "Unknown",
  ]);
  assert.equal(nameInCommands({ kind: "SparkApplication", namespace: "a", name: "b" }), "a/b");
  assert.equal(
    nameInCommands({ kind: "ApacheSparkApplication", namespace: "a", name: "b" }),
    "ApacheSparkApplication/a/b",
  );
});

const commands: readonly (readonly [action: Action, path: string, command: string])[] = [
  ["pause", "SparkApplication/a/b", "rekindle pause a/b"],
  ["suspend", "SparkApplication/a/b", "rekindle suspend a/b"],
  ["delete", "JobFlow/a/b", "rekindle delete JobFlow/a/b"],
  ["suspend", "Job/a/b", "rekindle job suspend -n a b"],
  ["resume", "Job/a/b", "rekindle resume Job/a/b"],
  ["close", "Queue/q", "rekindle queue operate -a close q"],
  ["reconcile", "Job/a/b", ""],
];

for (const [action, path, command] of commands)
  test(`${action} of ${path} is in a terminal: ${command || "nothing"}`, () =>
    assert.equal(commandFor(action, path), command));
