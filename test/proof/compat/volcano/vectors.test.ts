/** Compares with the recorded behaviour of Volcano's own code, if recordings exist beside the project. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { dataDir, skipWithoutData } from "../../../support/data.ts";
import { volcanoGroups } from "./files.ts";

const groups = dataDir === undefined ? [] : volcanoGroups(dataDir);

describe("recorded Volcano", () => {
  test("has rows of each group", { skip: skipWithoutData }, () => {
    assert.ok(groups.length > 0);
    assert.deepEqual(
      groups.filter(({ cases }) => cases.length === 0),
      [],
    );
  });

  for (const { name, cases } of groups) {
    test(`${name}: ${cases.length} rows`, () => {
      const problems = cases.flatMap((one) =>
        (one.run()?.problems ?? []).map((problem) => ({ of: one.name, ...problem })),
      );
      assert.deepEqual(problems.slice(0, 20), []);
    });
  }
});
