/**
 * Keys, groups and deduplication ids: messages that the queue may drop within five minutes, and those that it must
 * keep.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { dedupe, groupOf, type Key, textOf } from "../../../shared/core/key.ts";

const key: Key = { cluster: "here", kind: "Toy", namespace: "ns", name: "bear" };
const others: readonly Key[] = [
  { ...key, cluster: "there" },
  { ...key, kind: "Doll" },
  { ...key, namespace: "other" },
  { ...key, name: "bears" },
  { ...key, namespace: "ns-b", name: "ear" },
];

describe("a key", () => {
  test("is written as people read it", () => assert.equal(textOf(key), "here/Toy/ns/bear"));

  test("has a group of its own that any queue takes, however long its names", () => {
    const long = { ...key, namespace: "n".repeat(63), name: "a".repeat(253) };
    const groups = [key, long, ...others].map(groupOf);
    assert.equal(new Set(groups).size, groups.length);
    for (const group of groups) assert.match(group, /^[0-9a-f]{40}$/);
  });

  test("carries no more into its group than itself", () => {
    assert.equal(groupOf({ ...key, ...{ reason: "x", tries: 3 } }), groupOf(key));
  });
});

describe("deduplication ids", () => {
  const pod = { kind: "Pod", uid: "u1", resourceVersion: "5" };
  const ids = [
    ...[key, ...others].flatMap((one) => [
      dedupe.watch(one, pod),
      dedupe.gone(one, "u1"),
      dedupe.timer(one, "u1"),
      dedupe.sweep(one, "u1"),
      dedupe.trigger(one, "u1"),
    ]),
    dedupe.watch(key, { ...pod, resourceVersion: "6" }),
    dedupe.watch(key, { ...pod, uid: "u2" }),
    dedupe.watch(key, { ...pod, kind: "Service" }),
    dedupe.gone(key, "u2"),
    dedupe.timer(key, "t2"),
    dedupe.sweep(key, "s2"),
    dedupe.trigger(key, "e2"),
  ];

  test("differ by source, key and what they are about", () => assert.equal(new Set(ids).size, ids.length));

  test("are the same for copies of one event, and fit SQS", () => {
    assert.equal(dedupe.watch({ ...key }, { ...pod }), dedupe.watch(key, pod));
    for (const id of ids) assert.match(id, /^[0-9a-f]{64}$/);
  });
});
