/** Answers that are no objects. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { bodyOf, errorOf, saysGone } from "../../../shared/kube/responses.ts";

const answer = (status: number, body: string) => ({ status, headers: {}, body });

test("an answer that cannot be an object is not given to the parser, which takes long for brackets", () => {
  const parse = mock.method(JSON, "parse");
  try {
    const brackets = "[".repeat(1_000);
    assert.throws(() => bodyOf("get", answer(200, brackets)), { name: "ApiError", reason: "BadAnswer" });
    assert.equal(errorOf("get", answer(500, brackets)).reason, "InternalError");
    assert.equal(saysGone(answer(404, brackets), "a"), false);
    assert.equal(parse.mock.callCount(), 0);
    assert.deepEqual(bodyOf("get", answer(200, ' \n{"a":[1]}')), { a: [1] });
    assert.equal(parse.mock.callCount(), 1);
  } finally {
    parse.mock.restore();
  }
});
