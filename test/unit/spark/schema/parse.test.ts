/** Parsing of SparkApplications, and the messages for invalid specs. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseSpec } from "../../../../shared/spark/schema/rules.ts";

const spec = {
  type: "Scala",
  sparkVersion: "4.1.1",
  image: "spark:4.1.1",
  mainClass: "org.example.Main",
  mainApplicationFile: "local:///opt/app.jar",
  driver: { cores: 1, memory: "512m" },
  executor: { instances: 1 },
};

const parsed = (changes: object, name = "pi"): ReturnType<typeof parseSpec> =>
  parseSpec({ metadata: { name, namespace: "default" }, spec: { ...spec, ...changes } });

const without = (field: keyof typeof spec): object => {
  const { [field]: _gone, ...rest } = spec;
  return { metadata: { name: "pi" }, spec: rest };
};

describe("parseSpec", () => {
  test("accepts what upstream's CRD accepts, and keeps unknown fields", () => {
    const result = parsed({
      future: { field: 1 },
      driver: { template: { spec: { containers: null } }, newField: "x" },
    });
    assert.ok(result.ok);
    assert.deepEqual(result.spec["future"], { field: 1 });
    assert.equal(result.spec.driver["newField"], "x");
  });

  const missing = [
    ["driver", "spec.driver is missing: add it (an object)"],
    ["executor", "spec.executor is missing: add it (an object)"],
    ["mainApplicationFile", "spec.mainApplicationFile is missing: add it (a string)"],
    ["sparkVersion", "spec.sparkVersion is missing: add it (a string)"],
  ] as const;
  for (const [field, message] of missing) {
    test(`reports that ${field} is missing`, () => {
      const { metadata, spec: rest } = { metadata: { name: "pi" }, spec: without(field) };
      assert.deepEqual(parseSpec({ metadata, ...rest }), { ok: false, message });
    });
  }

  const wrong: readonly (readonly [string, object, string])[] = [
    ["an unknown type", { type: "Cobol" }, "spec.type must be one of Java, Python, Scala, R"],
    ["a number as text", { driver: { cores: "1" } }, "spec.driver.cores must be a number, not a string"],
    ["zero cores", { driver: { cores: 0 } }, "spec.driver.cores must be at least 1"],
    [
      "a conf that is a number",
      { sparkConf: { "spark.ui.port": 4040 } },
      'spec.sparkConf["spark.ui.port"] must be a string, not a number: put it in quotes',
    ],
    [
      "an unknown unit of memory",
      { driver: { memory: "512q" } },
      'spec.driver.memory: "512q" is not a size that Spark reads; write it like "512m" or "2g"',
    ],
    [
      "Kubernetes' unit in a field that Spark reads",
      { executor: { memory: "1Gi" } },
      'spec.executor.memory: "1Gi" is not a size that Spark reads; write it like "512m" or "2g"',
    ],
    [
      "a fraction in place of a whole number",
      { driver: { cores: 1.5 } },
      "spec.driver.cores must be a whole number, not 1.5",
    ],
    [
      "a malformed quantity",
      { driver: { coreLimit: "1.2.3" } },
      'spec.driver.coreLimit: "1.2.3" is not a quantity; write it like "500m" or "2"',
    ],
    [
      "node selectors at two levels",
      { nodeSelector: { a: "b" }, driver: { nodeSelector: { a: "b" } } },
      "node selector cannot be defined at both SparkApplication and Driver/Executor: keep spec.nodeSelector or those of spec.driver and spec.executor",
    ],
    [
      "a conf that admission denies",
      { sparkConf: { "spark.master": "local" } },
      'sparkConf key "spark.master" is not allowed: the API server is the one that the application was created in',
    ],
    [
      "a template with a Spark version without templates",
      { sparkVersion: "2.4.8", driver: { template: {} } },
      "spec.sparkVersion 2.4.8 knows no pod templates: it must be 3.0.0 or newer",
    ],
  ];
  for (const [what, changes, message] of wrong) {
    test(`reports ${what}`, () => {
      assert.deepEqual(parsed(changes), { ok: false, message });
    });
  }

  test("reports a name that is too long for the objects named after it", () => {
    const result = parsed({}, "a".repeat(64));
    assert.ok(!result.ok);
    assert.match(result.message, /^metadata\.name is 64 characters long, .*shorten it$/);
  });

  test("reports the first twelve faults and counts the rest", () => {
    const five = parsed({ type: 1, sparkVersion: 1, image: 1, mode: 1, suspend: 1 });
    assert.ok(!five.ok);
    for (const field of ["type", "sparkVersion", "image", "mode", "suspend"])
      assert.ok(five.message.includes(`spec.${field} must be`), field);
    const many = parsed({ arguments: Array.from({ length: 20 }, () => 1) });
    assert.ok(!many.ok);
    assert.match(many.message, /spec\.arguments\[11\] must be .*; and 8 more$/);
  });
});
