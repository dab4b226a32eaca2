/** Which Spark version follows which rules. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { rulesFor } from "../../../shared/spark/submission/versions.ts";

describe("rulesFor", () => {
  const rows = [
    ["3.0.1", "none", false],
    ["3.5.8", "none", false],
    ["4.0.4", "none", false],
    ["4.1.1", "plain", false],
    ["4.2.0", "plain", false],
    ["4.3.0", "named", true],
    ["5.0.0-preview1", "named", true],
    ["latest", "none", false],
  ] as const;
  for (const [version, connectPort, shielded] of rows) {
    test(`${version} has the newest rules not above it`, () => {
      const rules = rulesFor(version);
      assert.deepEqual([rules.connectPort, rules.shielded], [connectPort, shielded]);
    });
  }
});
