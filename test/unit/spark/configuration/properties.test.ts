/** Java's properties format, written and read back. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { propertiesText } from "../../../../shared/spark/configuration/conf.ts";
import { parseProperties } from "../../../proof/compat/properties.ts";

describe("propertiesText", () => {
  const rows = [
    ["spark.master", "k8s://https://h:443", "spark.master=k8s\\://https\\://h\\:443"],
    ["a b", " two  spaces", "a\\ b=\\ two  spaces"],
    ["key", 'quotes " and = # ! \\', 'key=quotes " and \\= \\# \\! \\\\'],
    ["lines", "one\ntwo\ttabbed\r", "lines=one\\ntwo\\ttabbed\\r"],
    ["empty", "", "empty="],
    ["word", "äöü €", "word=äöü €"],
  ] as const;
  for (const [key, value, line] of rows) {
    test(`writes ${key} as Java does`, () => {
      assert.equal(propertiesText("title", new Map([[key, value]])), `#title\n${line}\n`);
    });
  }

  test("writes a text that is parsed to the same values", () => {
    const text = fc.string({ unit: "grapheme", minLength: 1 });
    fc.assert(
      fc.property(fc.dictionary(text, text), (values) => {
        assert.deepEqual(
          new Map(Object.entries(parseProperties(propertiesText("t", new Map(Object.entries(values)))))),
          new Map(Object.entries(values)),
        );
      }),
    );
  });

  test("writes equal texts for equal maps", () => {
    const [one, other] = [
      new Map([
        ["a", "1"],
        ["b", "2"],
      ]),
      new Map([
        ["b", "2"],
        ["a", "1"],
      ]),
    ];
    assert.equal(propertiesText("t", one), propertiesText("t", other));
  });
});
