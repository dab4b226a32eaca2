/** The rules of each Spark version. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rulesFor, standIn } from "../../../../shared/spark/configuration/versions.ts";

describe("rulesFor", () => {
  const rows = [
    ["3.0.1", "none", false, false],
    ["3.5.8", "none", false, false],
    ["4.0.4", "none", false, false],
    ["4.1.1", "plain", false, false],
    ["4.2.0", "named", true, false],
    ["4.2.1", "named", true, false],
    ["4.3.0", "named", true, true],
    ["5.0.0-preview1", "named", true, true],
    ["latest", "none", false, false],
  ] as const;
  for (const [version, connectPort, networkPolicy, securityContext] of rows) {
    test(`${version} has the newest rules not above it`, () => {
      const rules = rulesFor(version);
      assert.deepEqual(
        [rules.connectPort, rules.networkPolicy, rules.securityContext],
        [connectPort, networkPolicy, securityContext],
      );
    });
  }
});

describe("standIn", () => {
  for (const version of ["3.5.0", "4.0.4", "4.1.1", "4.2.0", "4.2.1", "4.3.0"]) {
    test(`${version} has rules of its own`, () => assert.equal(standIn(version), undefined));
  }

  const rows = [
    ["4.4.1", "4.3"],
    ["3.4.2", "3.5"],
    ["latest", "3.5"],
  ] as const;
  for (const [version, other] of rows) {
    test(`${version} gets the rules of ${other}, with a message`, () => {
      assert.match(standIn(version) ?? "", new RegExp(`${version}.* Spark ${other} are used`));
    });
  }
});
