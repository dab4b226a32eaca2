/** The enclosure of a call, as a function takes it: well-formed or not at all, and only for the key of that call. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { enclosureIn, openEnclosed } from "../../../../shared/adapters/dispatch/enclosed.ts";

const object = {
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "pi", namespace: "ns", uid: "app-1", resourceVersion: "7" },
};
const enclosure = { date: 1_000, object, lists: [[object]] };
const key = { cluster: "c", kind: "SparkApplication", namespace: "ns", name: "pi" };

describe("an enclosure", () => {
  test("is read from the event", () => assert.deepEqual(enclosureIn({ Records: [], enclosure }), enclosure));

  for (const [name, given] of [
    ["nothing", undefined],
    ["no date", { ...enclosure, date: "now" }],
    ["no object", { ...enclosure, object: undefined }],
    ["an object without identity", { ...enclosure, object: { ...object, metadata: { name: "pi" } } }],
    ["a listed object without identity", { ...enclosure, lists: [[{}]] }],
    ["too many listed objects", { ...enclosure, lists: [Array.from({ length: 65 }, () => object)] }],
    ["too many lists", { ...enclosure, lists: [[], [], [], [], []] }],
  ] as const)
    test(`with ${name} is ignored`, () => assert.equal(enclosureIn({ enclosure: given }), undefined));

  test("is available to the steps of its own call, for its key only", async () => {
    const { within, find } = openEnclosed("c");
    assert.equal(find(key), undefined);
    const found = await within(enclosure, async () => [key, { ...key, name: "e" }, { ...key, cluster: "d" }].map(find));
    assert.deepEqual(found, [enclosure, undefined, undefined]);
    assert.deepEqual(
      within(undefined, () => find(key)),
      undefined,
    );
  });
});
