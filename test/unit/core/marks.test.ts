/** The digest of labels and annotations: it follows each of them, and is the same for an object as a watch keeps it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { keptMarks, lastApplied, marksOf } from "../../../shared/core/marks.ts";
import { trim } from "../../../shared/kube/trim.ts";
import { toy } from "../engine/fakes.ts";

test("each label and each annotation changes the digest, whether it is added, removed or another's", () => {
  const metadata = [
    { name: "a" },
    { name: "a", labels: { k: "v" } },
    { name: "a", labels: { k: "w" } },
    { name: "a", annotations: { k: "v" } },
    { name: "a", labels: { k: "v" }, annotations: { k: "v" } },
  ];
  assert.equal(new Set(metadata.map(marksOf)).size, metadata.length);
});

test("neither the order of labels nor any other field changes the digest", () => {
  const one = marksOf({ name: "a", labels: { k: "v", l: "w" }, annotations: {} });
  assert.equal(marksOf({ name: "b", uid: "u", resourceVersion: "8", labels: { l: "w", k: "v" } }), one);
});

test("an object that a watch keeps has the digest of the object that a read returns", () => {
  const object = toy({ labels: { k: "v" }, annotations: { [lastApplied]: "{}", "rekindle.dev/paused": "true" } });
  assert.deepEqual(keptMarks(trim(object)), keptMarks(object));
  assert.deepEqual(keptMarks(undefined), {});
});
