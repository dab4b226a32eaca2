/**
 * Freshness of the watch cache: the doubt about a key ends when the watch reaches the version of an object that a step
 * of the key created since.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CacheFreshness, isUpToDate, markCurrent } from "../../../../shared/deployments/host/cache.ts";
import { pods } from "../../../../shared/kube/resources.ts";

const groups = { ...pods, group: "x", plural: "groups" };

/** Steps of key `a` have created a pod at version 100, then another at 200. */
const made = (): CacheFreshness => {
  const firm: CacheFreshness = new Map();
  markCurrent(firm, "a", pods, "100");
  markCurrent(firm, "a", pods, "200");
  return firm;
};

describe("the watch cache is up to date for a key", () => {
  const rows = [
    ["once the watch has reached the first object that a step created", "a", pods, "100", true],
    ["when the watch has gone further", "a", pods, "1000", true],
    ["but not before", "a", pods, "99", false],
    ["but not while the watch's version is unknown", "a", pods, undefined, false],
    ["but not if versions have no order", "a", pods, "x200", false],
    ["but not for another resource", "a", groups, "1000", false],
    ["but not for another key", "b", pods, "1000", false],
  ] as const;
  for (const [why, key, resource, reached, is] of rows)
    test(why, () => assert.equal(isUpToDate(made(), key, resource, reached), is));

  test("for the latest two thousand keys", () => {
    const firm = made();
    for (let other = 0; other < 2_000; other++) markCurrent(firm, `k${other}`, pods, "1");
    assert.deepEqual([isUpToDate(firm, "a", pods, "1000"), isUpToDate(firm, "k0", pods, "1000")], [false, true]);
  });
});
