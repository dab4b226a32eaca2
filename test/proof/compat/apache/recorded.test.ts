/** Compares with the recorded behaviour of upstream's operator of `spark.apache.org`, if recordings exist beside the project. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { dataDir, skipWithoutData } from "../../../support/data.ts";
import { apacheGroups } from "./groups.ts";
import { apacheReason } from "./intended.ts";

const groups = dataDir === undefined ? [] : apacheGroups(dataDir);

describe("recorded SparkApplications of spark.apache.org", () => {
  test("all groups have cases", { skip: skipWithoutData }, () => {
    assert.deepEqual(
      groups.map(({ name, cases }) => [name, cases.length > 0]),
      [
        ["apache/recorded objects", true],
        ["apache/recorded statuses", true],
        ["apache/applications of its examples and e2e tests", true],
        ["apache/SparkCluster", true],
      ],
    );
  });

  for (const { name, run } of groups.flatMap(({ cases }) => cases)) {
    test(name, () => assert.deepEqual(run()?.problems, []));
  }
});

describe("differences from upstream's operator of spark.apache.org", () => {
  const rows: readonly (readonly [path: string, ours: unknown, theirs: unknown, intended: boolean])[] = [
    ["ConfigMap m/data/spark.properties/spark.kubernetes.operator.name", undefined, "x", true],
    ["ConfigMap m/data/spark.properties/spark.kubernetes.operator.name", "x", undefined, false],
    ["ConfigMap m/data/spark.properties/spark.kubernetes.executor.label.rekindle.dev/attempt", "0", undefined, true],
    ["ConfigMap m/data/spark.properties/spark.kubernetes.executor.label.team", "a", undefined, false],
    ["Ingress ui/spec/tls", [], undefined, true],
    ["Ingress ui/spec/rules", [], undefined, false],
    ["Pod pi-0-driver/spec/containers/0/image", "a", "b", false],
  ];

  for (const [path, ours, theirs, intended] of rows) {
    test(`${path} with ${ours === undefined ? "nothing" : ours} for ${theirs}: ${intended}`, () => {
      assert.equal(apacheReason({ path, ours, theirs }) !== undefined, intended);
    });
  }
});
