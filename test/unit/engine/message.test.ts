/** Messages that are parsed, and messages that are dropped as poison. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { isNewer, mostReplaced, readMessage } from "../../../shared/engine/message.ts";
import { longestBody } from "../../../shared/engine/reconcile/intake.ts";
import { message } from "./fakes.ts";

describe("a message", () => {
  const good = [
    { name: "parses with a key and a reason", text: message },
    { name: "parses with hints", text: { ...message, resourceVersion: "12", tries: 3, fresh: true } },
    { name: "parses as a notice with its deadline", text: { ...message, until: 1_793_606_520_000 } },
    { name: "parses as a notice that the node stays", text: { ...message, stays: true } },
    { name: "parses as a timer with its instant", text: { ...message, due: 1_793_606_520_000 } },
    {
      name: "parses with the versions that its changes replace",
      text: {
        ...message,
        after: [
          { group: "", version: "v1", plural: "pods", namespace: "ns", name: "p", uid: "u", resourceVersion: "7" },
          { group: "g.example", version: "v1", plural: "toys", namespace: "", name: "t", uid: "u2" },
        ],
        looks: 1,
      },
    },
    { name: "parses with a key without namespace", text: { ...message, namespace: "" } },
  ];
  for (const { name, text } of good) {
    test(name, () => assert.deepEqual(readMessage(JSON.stringify(text)), text));
  }

  test("loses the fields that do not belong to a message", () => {
    assert.deepEqual(readMessage(JSON.stringify({ ...message, object: { spec: {} } })), message);
  });

  test("loses an instant that is none", () => {
    assert.deepEqual(readMessage(JSON.stringify({ ...message, due: "soon" })), message);
  });

  test("loses hints about changes that are none, or too many, and stays a message", () => {
    const one = { group: "", version: "v1", plural: "pods", namespace: "ns", name: "p", uid: "u" };
    for (const after of ["pods", [], [{ ...one, uid: "" }], Array.from({ length: 9 }, () => one)])
      assert.deepEqual(readMessage(JSON.stringify({ ...message, after, looks: "two" })), message);
  });

  test("with the most and longest hints is shorter than the longest body", () => {
    const [name, label] = ["n".repeat(253), "l".repeat(63)];
    const one = { group: name, version: label, plural: label, namespace: label, name, uid: "u".repeat(64) };
    const after = Array.from({ length: mostReplaced }, () => ({ ...one, resourceVersion: "9".repeat(64) }));
    const text = JSON.stringify({ ...message, name, reason: "r".repeat(200), after, looks: 2 });
    assert.notEqual(readMessage(text), undefined);
    assert.ok(text.length < longestBody, `${text.length} characters`);
  });

  const poison = [
    { name: "a text that is no JSON", text: "{" },
    { name: "an empty text", text: "" },
    { name: "the JSON value null", text: "null" },
    { name: "a list in place of an object", text: "[]" },
    { name: "no name", text: JSON.stringify({ ...message, name: undefined }) },
    { name: "an empty name", text: JSON.stringify({ ...message, name: "" }) },
    { name: "an empty cluster", text: JSON.stringify({ ...message, cluster: "" }) },
    { name: "a name of another type", text: JSON.stringify({ ...message, name: 5 }) },
    { name: "a name longer than Kubernetes allows", text: JSON.stringify({ ...message, name: "a".repeat(254) }) },
    { name: "a negative number of tries", text: JSON.stringify({ ...message, tries: -1 }) },
    { name: "half a try as its number", text: JSON.stringify({ ...message, tries: 0.5 }) },
  ];
  for (const { name, text } of poison) {
    test(`with ${name} is poison`, () => assert.equal(readMessage(text), undefined));
  }

  const versions: readonly (readonly [text: object, newer: boolean])[] = [
    [message, false],
    [{ ...message, schema: 1 }, false],
    [{ ...message, schema: 2 }, true],
    [{ schema: 3, cluster: "c", kind: "Toy", name: "a", keys: {} }, true],
    [{ schema: 2, Type: "Notification" }, false],
    [{ ...message, schema: "2" }, false],
  ];
  for (const [text, newer] of versions) {
    test(`${JSON.stringify(text)} is ${newer ? "" : "not "}from a later version of Rekindle`, () =>
      assert.equal(isNewer(JSON.stringify(text)), newer));
  }

  test("never makes the parser throw, whatever its text", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => readMessage(text) === undefined || true));
  });
});
