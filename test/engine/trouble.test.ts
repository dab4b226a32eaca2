/** Which answers are the application's and which the platform's, and how long to stay away. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { ApiError } from "../../shared/core/errors.ts";
import { backoffMs, isRefusal, troubleOf } from "../../shared/engine/trouble.ts";
import { message } from "./fakes.ts";

const error = (status: number, text = "no"): ApiError => new ApiError({ status, reason: "R", message: text });

describe("an answer is about the content", () => {
  const cases = [
    ...[400, 413, 422].map((status) => ({ status, text: "no", refusal: true })),
    ...[0, 401, 403, 404, 405, 408, 409, 410, 415, 429, 500, 502, 503, 504].map((status) => ({
      status,
      text: "no",
      refusal: false,
    })),
    ...[400, 422].map((status) => ({ status, text: 'admission webhook "a.b" denied the request: no', refusal: false })),
    { status: 422, text: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", refusal: false },
  ];
  for (const { status, text, refusal } of cases) {
    test(`${status}, "${text}": ${refusal}`, () => assert.equal(isRefusal(error(status, text)), refusal));
  }
});

describe("any error is a trouble", () => {
  const cases = [
    { name: "the server's", cause: error(503), want: { reason: "R", message: "no" } },
    {
      name: "with the wait that it asked for",
      cause: new ApiError({ status: 429, reason: "R", message: "no", retryAfterMs: 5 }),
      want: { reason: "R", message: "no", retryAfterMs: 5 },
    },
    {
      name: "ours, without its trace",
      cause: new TypeError("x of undefined"),
      want: { reason: "RekindleFault", message: "x of undefined" },
    },
    { name: "no error at all", cause: "oops", want: { reason: "RekindleFault", message: "oops" } },
  ];
  for (const { name, cause, want } of cases) test(name, () => assert.deepEqual(troubleOf(cause), want));
});

describe("backoff", () => {
  test("never shorter than asked or than before, never beyond the queue, the same for the same try", () => {
    fc.assert(
      fc.property(fc.nat(40), fc.option(fc.nat(2_000_000), { nil: undefined }), fc.string(), (tries, asked, name) => {
        const key = { ...message, name };
        const wait = backoffMs(key, tries, asked);
        assert.ok(wait >= Math.min(900_000, asked ?? 0) && wait >= 1_000 && wait <= 900_000);
        assert.ok(backoffMs(key, tries + 1, asked) >= wait * 0.8);
        assert.equal(backoffMs(key, tries, asked), wait);
      }),
    );
  });

  test("many keys do not come back at once", () => {
    const waits = Array.from({ length: 100 }, (_, index) =>
      backoffMs({ ...message, name: `app-${index}` }, 5, undefined),
    );
    assert.ok(new Set(waits).size > 90);
    assert.ok(Math.max(...waits) - Math.min(...waits) > 6_000);
  });
});
