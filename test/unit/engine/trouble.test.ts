/** Classification of answers as refusals or trouble, and the backoff after them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { ApiError } from "../../../shared/core/http.ts";
import { backoffMs, isRefusal, troubleOf } from "../../../shared/engine/trouble.ts";
import { message } from "./fakes.ts";

const error = (status: number, text = "no"): ApiError => new ApiError({ status, reason: "R", message: text });

describe("an answer is a refusal of the content", () => {
  const cases = [
    ...[400, 413, 422].map((status) => ({ status, text: "no", refusal: true })),
    ...[0, 401, 403, 404, 405, 408, 409, 410, 415, 429, 500, 502, 503, 504].map((status) => ({
      status,
      text: "no",
      refusal: false,
    })),
    ...[400, 422].map((status) => ({ status, text: 'admission webhook "a.b" denied the request: no', refusal: false })),
    ...[
      'pods "p" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 2Gi',
      'pods "p" is forbidden: minimum cpu usage per Container is 100m, but request is 10m',
      'pods "p" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 4',
      'pods "p" is forbidden: failed quota: q: must specify limits.cpu for: spark-kubernetes-driver',
      'pods "p" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false',
      'pods "p" is forbidden: error looking up service account d/spark: serviceaccount "spark" not found',
      'pods "p" is forbidden: no PriorityClass with name high was found',
      'pods "p" is forbidden: pod rejected: RuntimeClass "gvisor" not found',
    ].map((text) => ({ status: 403, text, refusal: true })),
    ...[
      'pods "p" is forbidden: exceeded quota: q, requested: cpu=2, used: cpu=9, limited: cpu=10',
      'pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "d"',
      'pods "p" is forbidden: error looking up service account d/default: serviceaccount "default" not found',
      'pods "p" is forbidden: unable to create new content in namespace d because it is being terminated',
      'admission webhook "a.b" denied the request: violates PodSecurity',
    ].map((text) => ({ status: 403, text, refusal: false })),
    { status: 422, text: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no", refusal: false },
  ];
  for (const { status, text, refusal } of cases) {
    test(`${status}, "${text}": ${refusal}`, () => assert.equal(isRefusal(error(status, text)), refusal));
  }
});

describe("every error becomes a trouble", () => {
  const cases = [
    {
      name: "an error of the server, with its reason and message",
      cause: error(503),
      want: { reason: "R", message: "no" },
    },
    {
      name: "an error of the server, with the wait that it requests",
      cause: new ApiError({ status: 429, reason: "R", message: "no", retryAfterMs: 5 }),
      want: { reason: "R", message: "no", retryAfterMs: 5 },
    },
    {
      name: "a fault of Rekindle itself, without its stack trace",
      cause: new TypeError("x of undefined"),
      want: { reason: "RekindleFault", message: "x of undefined" },
    },
    { name: "a thrown value that is no Error", cause: "oops", want: { reason: "RekindleFault", message: "oops" } },
  ];
  for (const { name, cause, want } of cases) test(name, () => assert.deepEqual(troubleOf(cause), want));
});

describe("backoff", () => {
  test("is at least the requested wait, grows up to the queue's limit, and is deterministic", () => {
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

  test("spreads the retries of many keys", () => {
    const waits = Array.from({ length: 100 }, (_, index) =>
      backoffMs({ ...message, name: `app-${index}` }, 5, undefined),
    );
    assert.ok(new Set(waits).size > 90);
    assert.ok(Math.max(...waits) - Math.min(...waits) > 6_000);
  });
});
