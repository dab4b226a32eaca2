/** Messages that are parsed, and messages that are dropped as poison. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { isNewer, readMessage } from "../../../shared/engine/message.ts";
import { message } from "./fakes.ts";

describe("a message", () => {
  const good = [
    { name: "a key and its reason", text: message },
    { name: "with hints", text: { ...message, resourceVersion: "12", tries: 3, fresh: true } },
    { name: "a notice, whose end is believed", text: { ...message, until: 1_793_606_520_000 } },
    { name: "of a key without namespace", text: { ...message, namespace: "" } },
  ];
  for (const { name, text } of good) {
    test(name, () => assert.deepEqual(readMessage(JSON.stringify(text)), text));
  }

  test("what does not belong in it is not believed", () => {
    assert.deepEqual(readMessage(JSON.stringify({ ...message, object: { spec: {} } })), message);
  });

  const poison = [
    { name: "no JSON", text: "{" },
    { name: "nothing", text: "" },
    { name: "null", text: "null" },
    { name: "a list", text: "[]" },
    { name: "no name", text: JSON.stringify({ ...message, name: undefined }) },
    { name: "an empty name", text: JSON.stringify({ ...message, name: "" }) },
    { name: "an empty cluster", text: JSON.stringify({ ...message, cluster: "" }) },
    { name: "a name of another type", text: JSON.stringify({ ...message, name: 5 }) },
    { name: "a name that no object has", text: JSON.stringify({ ...message, name: "a".repeat(254) }) },
    { name: "negative tries", text: JSON.stringify({ ...message, tries: -1 }) },
    { name: "half a try", text: JSON.stringify({ ...message, tries: 0.5 }) },
  ];
  for (const { name, text } of poison) {
    test(`${name} is poison`, () => assert.equal(readMessage(text), undefined));
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
    test(`${JSON.stringify(text)} is ${newer ? "" : "not "}a later Rekindle's`, () =>
      assert.equal(isNewer(JSON.stringify(text)), newer));
  }

  test("whatever the text, reading it does not throw", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => readMessage(text) === undefined || true));
  });
});
