/** Watched objects by the value of a label, while objects come, change their labels, become outlines, and go. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Stored } from "../../../shared/core/object.ts";
import { openShare } from "../../../shared/core/share.ts";
import { type ObjectCache, openObjectCache } from "../../../shared/forward/keys.ts";
import { trim } from "../../../shared/kube/trim.ts";

const pod = (name: string, labels: Readonly<Record<string, string>> | undefined, version = "1"): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    ...{ name, namespace: "ns", uid: name, resourceVersion: version },
    ...(labels === undefined ? {} : { labels }),
    annotations: { a: "x".repeat(1_000) },
  },
});

const of = (cache: ObjectCache, job: string): readonly string[] =>
  [...cache.labelled("job", job)].map(({ metadata }) => metadata.name).sort();

describe("objects by a label", () => {
  const opened = (asked: boolean): ObjectCache => {
    const cache = openObjectCache(trim);
    if (asked) cache.labelled("job", "a");
    for (const name of ["0", "1"]) cache.seen(pod(name, { job: "a", other: "x" }));
    cache.seen(pod("2", { job: "b" }));
    cache.seen(pod("3", undefined));
    return cache;
  };

  for (const asked of [true, false])
    test(`are those with its value, also if the label ${asked ? "was asked for before they came" : "is asked for later"}`, () => {
      const cache = opened(asked);
      assert.deepEqual([of(cache, "a"), of(cache, "b"), of(cache, "c")], [["0", "1"], ["2"], []]);
    });

  test("follow a change of the label, a deletion, and a list without the object", () => {
    const cache = opened(true);
    cache.seen(pod("0", { job: "b" }, "2"));
    assert.deepEqual([of(cache, "a"), of(cache, "b")], [["1"], ["0", "2"]]);
    cache.gone(pod("2", { job: "b" }));
    assert.deepEqual(of(cache, "b"), ["0"]);
    const list = cache.begin();
    list.see(pod("1", { job: "a" }));
    list.end();
    assert.deepEqual([of(cache, "a"), of(cache, "b")], [["1"], []]);
  });

  test("hold the newest version, and an outline where the namespace has no room", () => {
    const cache = openObjectCache(trim, openShare(6_000));
    for (const name of ["0", "1", "2", "3"]) cache.seen(pod(name, { job: "a" }));
    cache.seen(pod("0", { job: "a" }, "2"));
    const found = [...cache.labelled("job", "a")];
    assert.equal(found.length, 4);
    assert.equal(found.find(({ metadata }) => metadata.name === "0")?.metadata.resourceVersion, "2");
    assert.ok(found.some(({ metadata }) => metadata.annotations === undefined));
    assert.equal(cache.isWhole("ns"), false);
  });
});
