/** Compares with the recorded behaviour of the real client and operator, if recordings exist beside the project. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { dataDir, skipWithoutData } from "../../support/data.ts";
import { casesIn } from "./cases.ts";
import { differences } from "./compare.ts";
import { reasonFor } from "./intended.ts";

describe("recorded submissions", { skip: skipWithoutData }, () => {
  for (const { name, run } of dataDir === undefined ? [] : casesIn(dataDir)) {
    test(name, () => assert.deepEqual(run()?.problems ?? [], []));
  }
});

describe("the comparison", () => {
  test("finds every place where two objects differ", () => {
    const ours = {
      a: 1,
      env: [
        { name: "B", value: "2" },
        { name: "A", value: "1" },
      ],
      args: ["x", "y"],
    };
    const theirs = {
      b: 1,
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "3" },
      ],
      args: ["y", "x"],
    };
    assert.deepEqual(
      differences(ours, theirs).map(({ path }) => path),
      ["a", "env/B/value", "args/0", "args/1", "b"],
    );
  });

  test("of two variables with one name the order counts", () => {
    const [one, two] = [
      { name: "A", value: "1" },
      { name: "A", value: "2" },
    ];
    assert.equal(differences({ env: [one, two] }, { env: [two, one] }).length, 2);
  });

  test("means nothing that no rule names", () => {
    const difference = { path: "Pod pi-driver/spec/containers/0/image", ours: "a", theirs: "b" };
    assert.equal(reasonFor("client", difference), undefined);
    assert.equal(reasonFor("webhook", difference), undefined);
  });
});
