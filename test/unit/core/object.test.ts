/** Names of objects and errors in messages and log fields. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ApiError, assertNever } from "../../../shared/core/http.ts";
import { apiVersionOf, refText } from "../../../shared/core/object.ts";

const pods = { group: "", version: "v1", plural: "pods", kind: "Pod" };
const toys = { group: "toys.example", version: "v1beta2", plural: "toys", kind: "Toy" };

describe("names of objects", () => {
  const versions = [
    { resource: pods, want: "v1" },
    { resource: toys, want: "toys.example/v1beta2" },
  ];
  for (const { resource, want } of versions) test(want, () => assert.equal(apiVersionOf(resource), want));

  const refs = [
    { ref: { resource: pods, namespace: "ns", name: "a" }, want: "pods ns/a" },
    { ref: { resource: toys, name: "a" }, want: "toys a" },
  ];
  for (const { ref, want } of refs) test(want, () => assert.equal(refText(ref), want));
});

describe("errors", () => {
  test("keep the answer's status, reason and wait, and what caused them", () => {
    const cause = new Error("socket hang up");
    const error = new ApiError({ status: 0, reason: "Unreachable", message: "no answer", retryAfterMs: 5, cause });
    const { name, status, reason, message, retryAfterMs } = error;
    assert.deepEqual(
      { name, status, reason, message, retryAfterMs, cause: error.cause },
      { name: "ApiError", status: 0, reason: "Unreachable", message: "no answer", retryAfterMs: 5, cause },
    );
  });

  test("a case that cannot be ends in an error that shows it", () => {
    const cases: readonly never[] = JSON.parse('[{"do":"sing"}]');
    assert.throws(() => cases.map((one) => assertNever(one)), /unexpected \{"do":"sing"\}/);
  });
});
