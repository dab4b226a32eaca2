/** What goes with a submission and stops nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { application, decided, said, spec } from "./scenes.ts";

const toldFor = (sparkVersion: string): readonly string[] =>
  decided({ object: application({ spec: { ...spec, sparkVersion } }) })
    .plan.stages.flat()
    .map(said);

describe("a version whose rules are not known", () => {
  for (const version of ["4.4.1", "3.4.1"]) {
    test(`${version} is submitted by the newest rules not above it, and a warning says so`, () => {
      const told = toldFor(version);
      assert.ok(told.some((line) => line.startsWith("create pods")));
      assert.ok(told.some((line) => /^tell Warning RekindleSparkVersionUnknown .*those of Spark/.test(line)));
    });
  }

  for (const version of ["3.5.8", "4.0.4", "4.1.1", "4.2.1", "4.3.0"]) {
    test(`of ${version} nothing is told: its own rules are known`, () => {
      assert.deepEqual(
        toldFor(version).filter((line) => line.startsWith("tell Warning")),
        [],
      );
    });
  }
});
