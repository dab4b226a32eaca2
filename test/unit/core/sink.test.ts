/** Valid addresses of a listener of status updates. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasUserPart, isListener } from "../../../shared/core/updates.ts";

for (const [text, want] of [
  ["https://a.example/x?y=z", true],
  ["http://a.example/", true],
  ["events", true],
  ["none", true],
  ["https://user:secret@a.example/", false],
  ["https://token@a.example/", false],
  ["https://", false],
  ["ftp://a.example/", false],
  ["", false],
] as const)
  test(`${JSON.stringify(text)} is ${want ? "a" : "no"} listener`, () => assert.equal(isListener(text), want));

test("a URL with a name or a password is told apart from what is no URL", () => {
  assert.deepEqual(["https://a:b@c/", "https://a@c/", "https://c/", "a@c", "events"].map(hasUserPart), [
    true,
    true,
    false,
    false,
    false,
  ]);
});
