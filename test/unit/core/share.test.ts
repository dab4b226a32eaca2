/** Amounts that namespaces share, and the estimate of the memory that a value takes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { bytesOf, openShare } from "../../../shared/core/share.ts";

const takes = (share: ReturnType<typeof openShare>, namespace: string): number => {
  let count = 0;
  while (share.take(namespace, 1)) count += 1;
  return count;
};

describe("a share", () => {
  test("gives a namespace half of what there is, and each one after it half of what is left", () => {
    const share = openShare(1_000);
    assert.deepEqual(
      ["a", "b", "c", "d"].map((namespace) => takes(share, namespace)),
      [500, 250, 125, 62],
    );
  });

  test("has room again for what was given back", () => {
    const share = openShare(100);
    takes(share, "a");
    share.give("a", 30);
    assert.equal(takes(share, "a"), 30);
    assert.equal(share.take("a", 1_000), false);
  });

  test("of a copy changes alone", () => {
    const share = openShare(100);
    share.take("a", 40);
    const copy = share.copy();
    copy.give("a", 40);
    assert.equal(takes(share, "a"), 10);
    assert.equal(takes(copy, "a"), 50);
  });
});

describe("the memory of a value", () => {
  const rows: readonly (readonly [what: string, value: unknown, least: number, most: number])[] = [
    ["a text of a megabyte", "x".repeat(1_000_000), 1_000_000, 1_000_100],
    ["a text of two bytes a character", "ж".repeat(1_000_000), 2_000_000, 2_000_100],
    [
      "its keys count",
      Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`${at}`.padEnd(1_000), 1])),
      1e5,
      2e5,
    ],
    ["objects within objects", Array.from({ length: 1_000 }, () => ({ a: {} })), 128_000, 300_000],
  ];
  for (const [what, value, least, most] of rows)
    test(what, () => {
      const bytes = bytesOf(value);
      assert.ok(bytes >= least && bytes <= most, `${bytes}`);
    });

  test("is that of the heap, within a factor of three", () => {
    const pod = (at: number) => ({
      metadata: { name: `p-${at}`, labels: { a: `x${at}`, b: `y${at}` }, annotations: { c: `z${at}`.repeat(40) } },
      status: { phase: "Running", containerStatuses: [{ name: "c", state: { running: { startedAt: `t${at}` } } }] },
    });
    const before = process.memoryUsage().heapUsed;
    const pods: unknown = JSON.parse(JSON.stringify(Array.from({ length: 20_000 }, (_, at) => pod(at))));
    const grown = process.memoryUsage().heapUsed - before;
    const estimated = bytesOf(pods);
    assert.ok(estimated > grown / 6 && estimated < grown * 3, `${estimated} for ${grown}`);
  });

  test("is not counted beyond a bound, however deep or wide the value is", () => {
    let deep: unknown = "x";
    for (let at = 0; at < 100_000; at += 1) deep = { a: deep };
    assert.ok(bytesOf(deep, 10_000) < 11_000);
  });
});
