/**
 * Signatures of triggers: a signed request cannot be changed, and its signature expires before a repeat counts as a new
 * event.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import {
  aheadSeconds,
  listenerKey,
  type Signed,
  signature,
  verified,
  windowSeconds,
} from "../../../shared/core/signature.ts";

const secret = "correct horse battery staple";
const now = 1_793_606_400;
const signed: Signed = { timestamp: String(now), method: "POST", path: "/reconcile/Toy/ns/bear", body: "{}" };
const good = signature(secret, signed);
const flipped = `${good.startsWith("0") ? "1" : "0"}${good.slice(1)}`;

describe("a signature", () => {
  test("is HMAC-SHA256 over time, method, path and body, a line each", () => {
    const text = { timestamp: "1", method: "POST", path: "/p", body: "b" };
    assert.equal(signature("key", text), "220ea61ceea9db16cfbae9235138fa2da181d020c42b7d794f18f5f740f3d6d8");
  });

  const cases: readonly {
    name: string;
    signed?: Partial<Signed>;
    given?: string;
    secret?: string;
    later?: number;
    want: boolean;
  }[] = [
    { name: "as it was made", want: true },
    { name: "with its name before it", given: `sha256=${good}`, want: true },
    { name: "under another secret", secret: "tr0ub4dor&3", want: false },
    { name: "under no secret", secret: "", want: false },
    { name: "empty", given: "", want: false },
    { name: "nothing but its name", given: "sha256=", want: false },
    { name: "truncated", given: good.slice(0, 63), want: false },
    { name: "too long", given: `${good}0`, want: false },
    { name: "upper case", given: good.toUpperCase(), want: false },
    { name: "one digit changed", given: flipped, want: false },
    { name: "zeros", given: "0".repeat(64), want: false },
    { name: "of another hash", given: `sha1=${good}`, want: false },
    { name: "for another path", signed: { path: "/reconcile/Toy/ns/doll" }, want: false },
    { name: "for another method", signed: { method: "DELETE" }, want: false },
    { name: "for another body", signed: { body: "{ }" }, want: false },
    { name: "for another time", signed: { timestamp: String(now + 1) }, want: false },
    { name: "at the end of its window", later: windowSeconds, want: true },
    { name: "a second after it", later: windowSeconds + 1, want: false },
    { name: "from a clock ahead of ours", later: -aheadSeconds, want: true },
    { name: "from the future", later: -aheadSeconds - 1, want: false },
  ];
  for (const { name, want, later = 0, given = good, secret: used = secret, signed: more } of cases) {
    test(`${name}: ${want}`, () => {
      assert.equal(verified(used, { ...signed, ...more }, given, (now + later) * 1_000), want);
    });
  }

  const times = [
    "",
    " ",
    "now",
    "NaN",
    "Infinity",
    "-1",
    "1e3",
    `${now}.0`,
    `0x${now.toString(16)}`,
    ` ${now}`,
    "9".repeat(13),
  ];
  for (const timestamp of times) {
    test(`time ${JSON.stringify(timestamp)} is none, even when signed`, () => {
      const odd = { ...signed, timestamp };
      assert.equal(verified(secret, odd, signature(secret, odd), now * 1_000), false);
    });
  }

  test("whatever is given, checking does not throw", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (given, timestamp) => {
        assert.equal(verified(secret, { ...signed, timestamp }, given, now * 1_000), false);
      }),
    );
  });
});

describe("the key of a listener", () => {
  const url = "https://listener.example/hook?team=a";

  test("is what the guide computes: HMAC-SHA256 over the word listener and the URL, a line each, in hex", () => {
    const key = listenerKey("correct horse battery staple", url);
    assert.equal(key, "727c081ae565d30fb864acef2f1e501bf3da346d347239bef5953fa9b044dd20");
  });

  test("follows from the secret and the whole URL", () => {
    const keys = [
      listenerKey(secret, url),
      listenerKey(secret, `${url}b`),
      listenerKey(secret, "https://listener.example/hook"),
      listenerKey(`${secret}!`, url),
    ];
    assert.equal(new Set(keys).size, keys.length);
  });

  test("is no signature that the secret makes, whatever is signed", () => {
    const lines = { timestamp: "listener", method: url, path: "", body: "" };
    assert.equal(verified(secret, lines, listenerKey(secret, `${url}\n\n`), now * 1_000), false);
  });
});
