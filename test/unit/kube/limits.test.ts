/** Every field that users write has a maximum length, number of entries and value, and the message names the field. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { below, limitsOf } from "../../../shared/kube/limits.ts";
import { applicationLimits, connectLimits, scheduleLimits } from "../../../shared/spark/schema/limits.ts";
import { cronLimits, flowLimits, jobLimits } from "../../../shared/volcano/schema/limits.ts";
import { parseSpec as parseJob } from "../../../shared/volcano/validation/parse.ts";

const text = (length: number): string => "x".repeat(length);
const many = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `a${at}`);
const map = (count: number): Readonly<Record<string, string>> =>
  Object.fromEntries(many(count).map((key) => [key, "v"]));

const table = limitsOf([
  { field: "name", characters: 3, why: "it is short" },
  { field: "rows", entries: 2, why: "they are few" },
  { field: "rows.*.size", most: 10, why: "it is small" },
  ...below("inner", [{ field: "name", characters: 1, why: "it is shorter" }]),
]);

const rows: readonly (readonly [why: string, spec: unknown, says: string])[] = [
  ["nothing", undefined, ""],
  ["a text at its limit", { name: "abc" }, ""],
  ["a text beyond it", { name: "abcd" }, "spec.name is 4 characters long: shorten it to 3, because it is short"],
  ["a list at its limit", { rows: [{ size: 10 }, {}] }, ""],
  ["a list beyond it", { rows: [1, 2, 3] }, "spec.rows holds 3 entries: keep at most 2, because they are few"],
  [
    "a number beyond it",
    { rows: [{}, { size: 11 }] },
    "spec.rows[1].size is 11: write at most 10, because it is small",
  ],
  [
    "a spec within a spec",
    { inner: { name: "ab" } },
    "spec.inner.name is 2 characters long: shorten it to 1, because it is shorter",
  ],
];

describe("a table of limits", () => {
  for (const [why, spec, says] of rows) test(why, () => assert.equal(table(spec), says));

  test("bounds a field without a row as well", () => {
    assert.match(
      table({ other: { deep: text(131_073) } }),
      /^spec\.other\.deep is 131073 characters long: shorten it to 131072/,
    );
    assert.match(table({ other: [many(1_001)] }), /^spec\.other\[0\] holds 1001 entries: keep at most 1000/);
    assert.match(table({ other: { [text(1_025)]: 1 } }), /its key is 1025 characters long: shorten it to 1024/);
  });

  test("tells three fields at most, and a long key short", () => {
    const said = table(Object.fromEntries(many(900).map((key) => [`${key}${text(200)}`, text(131_073)])));
    assert.equal(said.split("; ").length, 3);
    assert.ok(said.length < 1_000, said);
  });

  test("holds for a text that no regular expression would end with", () => {
    assert.equal(table({ other: "${spark.".repeat(10_000) }), "");
  });
});

const app = { sparkVersion: "4.1.1", driver: {}, executor: {} };

const kinds: readonly (readonly [kind: string, saying: (spec: unknown) => string, spec: unknown, field: RegExp])[] = [
  ["SparkApplication", applicationLimits, { ...app, sparkConf: map(2_001) }, /^spec\.sparkConf holds 2001 entries/],
  [
    "SparkApplication",
    applicationLimits,
    { ...app, executor: { instances: 20_001 } },
    /^spec\.executor\.instances is 20001/,
  ],
  [
    "SparkApplication",
    applicationLimits,
    { ...app, driver: { secrets: [{ path: text(4_097) }] } },
    /^spec\.driver\.secrets\[0\]\.path is 4097/,
  ],
  [
    "ScheduledSparkApplication",
    scheduleLimits,
    { template: { ...app, sparkConf: { a: text(65_537) } } },
    /^spec\.template\.sparkConf\.a is 65537/,
  ],
  ["SparkConnect", connectLimits, { executor: { instances: 20_001 } }, /^spec\.executor\.instances is 20001/],
  ["Job", jobLimits, { tasks: many(1_001) }, /^spec\.tasks holds 1001 entries/],
  [
    "CronJob",
    cronLimits,
    { jobTemplate: { spec: { tasks: many(1_001) } } },
    /^spec\.jobTemplate\.spec\.tasks holds 1001/,
  ],
  [
    "JobFlow",
    flowLimits,
    { flows: [{ dependsOn: { probe: { httpGetList: many(101) } } }] },
    /^spec\.flows\[0\]\.dependsOn\.probe\.httpGetList holds 101/,
  ],
];

describe("the limits of each kind", () => {
  for (const [kind, saying, spec, field] of kinds)
    test(`${kind}: ${field.source}`, () => assert.match(saying(spec), field));

  test("the variables that svc writes are bounded as a product of tasks and replicas", () => {
    const container = { name: "c", image: "i" };
    const task = (at: number, replicas: number) => ({
      name: `t${at}`,
      replicas,
      template: { spec: { restartPolicy: "Never", containers: [container] } },
    });
    const job = (tasks: number, replicas: number) => ({
      minAvailable: 1,
      plugins: { svc: [] },
      tasks: Array.from({ length: tasks }, (_, at) => task(at, replicas)),
    });
    const said = (spec: unknown): string => {
      const read = parseJob("j", spec);
      return read.ok ? "" : read.message;
    };
    assert.equal(said(job(1_000, 1)), "");
    assert.match(
      said(job(1_000, 2)),
      /^spec\.plugins\.svc writes 4000000 variables into 2000 pods of 1000 tasks: at most 2000000/,
    );
  });
});
