/** Quantities: exact, in their original format. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isQuantity, plus, type Quantity, quantityOf, quantityText, times } from "../../../shared/kube/quantity.ts";

const read = (text: string): Quantity => {
  const quantity = quantityOf(text);
  assert.ok(quantity !== undefined, text);
  return quantity;
};

describe("a quantity", () => {
  const texts = ["1", "500m", "1Gi", "1536Mi", "2k", "100n", "3e3", "0"];
  for (const text of texts)
    test(`${text} is written as it was read`, () => assert.equal(quantityText(read(text)), text));

  const shorter = [
    ["1000m", "1"],
    ["1024Mi", "1Gi"],
    ["0.5", "500m"],
    ["1000", "1k"],
    [".5Gi", "512Mi"],
  ];
  for (const [long = "", short = ""] of shorter) {
    test(`${long} is ${short}`, () => assert.equal(quantityText(read(long)), short));
  }

  test("is added in the format of what there was first", () => {
    assert.equal(quantityText(plus(read("1Gi"), read("1024Ki"))), "1025Mi");
    assert.equal(quantityText(times(read("250m"), 3)), "750m");
  });

  for (const text of ["", "1.2.3", "Gi", "1Q", "1e999999999", "9".repeat(100)]) {
    test(`${text.slice(0, 12) || "nothing"} is none`, () => assert.equal(quantityOf(text), undefined));
  }
});

describe("quantities as Kubernetes reads them", () => {
  for (const text of ["1", "500m", "0.5", "1.5Gi", "1e3", "2E", ".5"]) {
    test(`${text} is one`, () => assert.ok(isQuantity(text)));
  }
  for (const text of ["", "abc", "1.2.3", "5 m", "1gi", "--1"]) {
    test(`"${text}" is none`, () => assert.ok(!isQuantity(text)));
  }
});
