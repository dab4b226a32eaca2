/** Tests the comparison with the baseline, and its messages. */
import { deepEqual, match } from "node:assert/strict";
import { test } from "node:test";
import { isOff, judge, rangesOf } from "./compare.ts";

const baseline = { reason: "the first", commit: "1a", figures: { requests: 100, cpu: 4 } };
const failures = (requests: number, cpu: number): readonly string[] =>
  judge(
    [
      { name: "requests", value: requests, unit: "requests" },
      { name: "cpu", value: cpu, unit: "times", noisy: true },
    ],
    baseline,
  ).flatMap(({ failure }) => failure ?? []);

test("figures within a tenth of the baseline pass", () => {
  deepEqual(failures(109, 4.3), []);
  deepEqual(failures(91, 3.7), []);
});

test("a figure that costs more fails and names its share", () => {
  const [first = "", second = "", ...others] = failures(120, 5);
  match(first, /^requests costs \+20\.0 %: find the cause, or accept it with npm run bench -- guard --update REASON$/);
  match(second, /^cpu costs \+25\.0 %/);
  deepEqual(others, []);
});

test("requests and bytes that cost less fail, so that the gain is kept; processor time may differ by machine", () => {
  const [first = "", ...others] = failures(80, 2);
  match(first, /^requests costs -20\.0 %: keep the gain with/);
  deepEqual(others, []);
});

test("a figure on one side only fails", () => {
  const [first, second, third] = judge([{ name: "bytes", value: 1, unit: "kB" }], baseline);
  match(first?.failure ?? "", /^bytes is not in the baseline/);
  match(second?.failure ?? "", /^requests was not measured/);
  match(third?.failure ?? "", /^cpu was not measured/);
});

test("a gain fails only if each round shows it, and a loss only if each round shows that", () => {
  const failed = (value: number, most: number): number =>
    judge([{ name: "requests", value, most, unit: "requests" }], {
      reason: "the first",
      commit: "1a",
      figures: { requests: 100 },
    }).filter(({ failure }) => failure !== undefined).length;
  deepEqual([failed(80, 89), failed(80, 91), failed(109, 130), failed(111, 130)], [1, 0, 0, 1]);
});

test("a figure is measured again while each round is clearly above or below the baseline", () => {
  const off = (value: number, most: number, noisy?: true): boolean =>
    isOff({ name: "requests", value, most, unit: "requests", ...(noisy && { noisy }) }, baseline);
  deepEqual(
    [off(106, 120), off(104, 120), off(80, 94), off(80, 96), off(80, 94, true)],
    [true, false, true, false, false],
  );
});

test("the least and the greatest value of several rounds count, figure by figure", () => {
  const round = (requests: number, cpu: number) => [
    { name: "requests", value: requests, unit: "requests" },
    { name: "cpu", value: cpu, unit: "times" },
  ];
  deepEqual(
    rangesOf([round(10, 3), round(12, 2)]).map(({ value, most }) => [value, most]),
    [
      [10, 12],
      [2, 3],
    ],
  );
});
