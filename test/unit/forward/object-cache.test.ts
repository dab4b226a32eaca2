/** The memory of watched objects: a namespace with more than its share keeps outlines, and is not answered from. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { openShare } from "../../../shared/core/share.ts";
import { openObjectCache } from "../../../shared/forward/keys.ts";
import { trim } from "../../../shared/kube/trim.ts";

const pod = (namespace: string, name: string, text: number, version = "1"): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    ...{ name, namespace, uid: `${namespace}/${name}`, resourceVersion: version },
    labels: { "spark-role": "executor", x: "y".repeat(10) },
    annotations: { a: "x".repeat(text) },
    ownerReferences: Array.from({ length: 20 }, (_, at) => ({
      apiVersion: "v1",
      kind: "Pod",
      name: `d${at}`,
      uid: "u",
    })),
  },
  status: { phase: "Running" },
});

const crowd = (count: number, text: number): readonly Stored[] =>
  Array.from({ length: count }, (_, at) => pod("mallory", `p${at}`, text));

const open = () => openObjectCache(trim, openShare(2_000_000));

const sizeOf = (value: unknown): number => JSON.stringify(value).length;

describe("a tenant's objects of 100 kB", () => {
  test("are kept whole up to the tenant's share, then as outlines with their labels and owners", () => {
    const cache = open();
    for (const one of crowd(200, 100_000)) cache.seen(one);
    assert.equal(cache.size(), 200);
    assert.ok(sizeOf([...cache.values()]) < 1_400_000);
    const last = cache.get("mallory", "p199");
    assert.deepEqual(last?.metadata.labels, { "spark-role": "executor", x: "y".repeat(10) });
    assert.equal(last?.metadata.ownerReferences?.length, 8);
    assert.ok(sizeOf(last) < 1_000);
  });

  test("leave another tenant's objects whole; only lists of their own namespace, or of all, are not answered", () => {
    const cache = open();
    for (const one of crowd(200, 100_000)) cache.seen(one);
    cache.seen(pod("default", "mine", 100));
    assert.deepEqual(
      ["default", "mallory", ""].map((namespace) => cache.isWhole(namespace)),
      [true, false, false],
    );
    assert.deepEqual(cache.get("default", "mine")?.["status"], { phase: "Running" });
  });

  test("are whole again once they have become small, were deleted, or were absent from a list", () => {
    const cache = open();
    for (const one of crowd(200, 100_000)) cache.seen(one);
    for (const one of crowd(100, 10)) cache.seen({ ...one, metadata: { ...one.metadata, resourceVersion: "2" } });
    for (const one of crowd(150, 10).slice(100)) cache.gone(one);
    const round = cache.begin();
    for (const one of crowd(100, 10)) round.see({ ...one, metadata: { ...one.metadata, resourceVersion: "2" } });
    assert.equal(round.end().length, 50);
    assert.ok(cache.isWhole(""));
    for (const one of crowd(1, 100_000)) cache.seen({ ...one, metadata: { ...one.metadata, resourceVersion: "3" } });
    assert.ok(cache.isWhole(""));
  });

  test("are reported when they change, as any other objects", () => {
    const cache = open();
    for (const one of crowd(200, 100_000)) cache.seen(one);
    assert.deepEqual(cache.seen(pod("mallory", "p199", 100_000)), []);
    const [change] = cache.seen(pod("mallory", "p199", 100_000, "2"));
    assert.deepEqual(change?.after?.["status"], { phase: "Running" });
    assert.equal(change?.before?.metadata.resourceVersion, "1");
  });
});
