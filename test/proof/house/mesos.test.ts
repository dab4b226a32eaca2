/**
 * Each of Mesos' 69 tests has an equivalent that exists, that `npm test` runs, and that is swept if the table says so.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scenarios } from "../sweep/scenarios.ts";

const tests = join(import.meta.dirname, "..", "..");
const readme = readFileSync(join(tests, "proof", "mesos", "README.md"), "utf8");

const rows = readme.split("\n").flatMap((line) => {
  const [, mesos = "", , file = "", name = "", sweep = ""] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
  return /^\w+Test\./.test(mesos) ? [{ mesos, file, name: name.replaceAll("\\|", "|"), sweep }] : [];
});

/** Rows of the second table: promises of other kinds. */
const kinds = ["Job", "JobFlow", "CronJob", "Queue", "ScheduledSparkApplication", "SparkConnect"];
const others = readme.split("\n").flatMap((line) => {
  const [, kind = "", what = "", file = "", name = "", sweep = ""] = line.split("|").map((cell) => cell.trim());
  return kinds.includes(kind) ? [{ kind, what, file, name, sweep }] : [];
});

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** True if the file declares a test of this name, and neither skips it nor marks it as still to do. */
const isDeclared = (file: string, name: string): boolean => {
  const path = join(tests, file);
  const runs = /^(?!proof\/house\/).*\.test\.ts$/.test(file) && existsSync(path);
  return (
    runs &&
    new RegExp(`(\\b(test|it)|\\bitOnStand\\([^;]*\\))\\(\\s*["\`]${escaped(name)}["\`]`).test(
      readFileSync(path, "utf8"),
    )
  );
};

test("the table has the 45 tests of agent recovery and the 24 of the update managers, each once", () => {
  const names = rows.map(({ mesos }) => mesos);
  assert.deepEqual([names.length, new Set(names).size], [69, 69]);
  assert.equal(names.filter((name) => name.startsWith("SlaveRecoveryTest.")).length, 45);
});

test("every equivalent exists, and npm test runs it", () => {
  const missing = rows.filter(({ file, name }) => !isDeclared(file, name));
  assert.deepEqual(
    missing.map(({ mesos, file, name }) => `${mesos}: ${file}: ${name}`),
    [],
  );
});

test("every row names scenarios of the sweep, all of which exist, or the text says why there is none", () => {
  const known = new Set(scenarios.map(({ name }) => name));
  const isReasoned = (mesos: string): boolean => readme.includes(`\`${mesos.split(".")[1]}\``);
  const wrong = rows.flatMap(({ mesos, sweep }) => {
    if (sweep === "none") return isReasoned(mesos) ? [] : [`${mesos}: no reason is given`];
    return sweep.split(", ").flatMap((name) => (known.has(name) ? [] : [`${mesos}: no scenario ${name}`]));
  });
  assert.deepEqual(wrong, []);
});

test("three rows have no scenario", () => {
  assert.equal(rows.filter(({ sweep }) => sweep === "none").length, 3);
});

test("so has every promise of another kind, with scenarios that exist", () => {
  const known = new Set(["none", ...scenarios.map(({ name }) => name)]);
  const wrong = others.filter(
    ({ file, name, sweep }) => !isDeclared(file, name) || !sweep.split(", ").every((one) => known.has(one)),
  );
  assert.deepEqual([wrong, new Set(others.map(({ kind }) => kind))], [[], new Set(kinds)]);
});

test("every kind with a life of its own is cleaned up, comes back elsewhere, and tells its updates", () => {
  const lacking = kinds.flatMap((kind) =>
    ["CleanupExecutor", "Reboot", "UpdateAndAck"].filter(
      (promise) => !others.some((row) => row.kind === kind && row.what === promise),
    ),
  );
  assert.deepEqual(lacking, []);
});
