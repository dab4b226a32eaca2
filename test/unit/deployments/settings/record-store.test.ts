/** The syntax of the setting for the store of records. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { place } from "../../../../shared/deployments/settings/formats.ts";

const rows: readonly (readonly [string, unknown])[] = [
  ["kubernetes", { in: "kubernetes" }],
  ["dynamodb://Rekindle_1.a", { in: "dynamodb", table: "Rekindle_1.a", region: undefined, keepMs: undefined }],
  [
    "dynamodb://records?region=eu-west-1&keepDays=30",
    { in: "dynamodb", table: "records", region: "eu-west-1", keepMs: 30 * 86_400_000 },
  ],
  ["dynamodb://records?keepDays=0", { in: "dynamodb", table: "records", region: undefined, keepMs: 0 }],
  ["dynamodb", "write kubernetes, or dynamodb://TABLE"],
  ["dynamodb://ab", "write kubernetes, or dynamodb://TABLE"],
  ["dynamodb://records?region=Ireland", "a region is needed, such as eu-west-1"],
  ["dynamodb://records?keepDays=x", "keepDays needs a whole number"],
  ["dynamodb://records?ttl=3", "takes region and keepDays"],
];

describe("the setting of the record store", () => {
  for (const [text, expected] of rows) {
    test(text, () => {
      const { data, error } = place.safeParse(text);
      const said = error?.issues[0]?.message;
      assert.deepEqual(said === undefined ? data : said.includes(String(expected)) || said, said ? true : expected);
    });
  }
});
