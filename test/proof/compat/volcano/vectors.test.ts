/** Compares with the recorded behaviour of Volcano's own code, if recordings exist beside the project. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { dataDir } from "../../../support/data.ts";
import { volcanoGroups } from "./files.ts";

describe("recorded Volcano", { skip: dataDir === undefined ? "no recordings beside the project" : false }, () => {
  for (const { name, cases } of dataDir === undefined ? [] : volcanoGroups(dataDir)) {
    test(`${name}: ${cases.length} rows`, () => {
      const problems = cases.flatMap((one) =>
        (one.run()?.problems ?? []).map((problem) => ({ of: one.name, ...problem })),
      );
      assert.deepEqual(problems.slice(0, 20), []);
    });
  }
});
