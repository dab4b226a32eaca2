/** Identification of callers: by proof and key, and unknown callers. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type Caller,
  type CallerEvidence,
  callers,
  holderOf,
  identifier,
  matches,
  mayReach,
  openRate,
} from "../../../shared/api/callers.ts";
import { signature } from "../../../shared/core/signature.ts";

const now = 1_793_606_400_000;
const [fresh, old, token] = [
  "the newest key of all of them",
  "the key of last summer ....",
  "a-token-for-those-who-cannot",
];
const known: readonly Caller[] = callers.parse([
  { name: "ci", keys: [fresh, old] },
  { name: "alerts", tokens: [token] },
  { name: "actions", oidc: { issuer: "https://idp.example", audience: "rekindle", subject: "repo:acme/*:ref:main" } },
  { name: "spot", iam: "arn:aws:sts::123456789012:assumed-role/spot/*", may: ["notice"] },
]);

const claims: Readonly<Record<string, string>> = {
  "a.good.token": "repo:acme/jobs:ref:main",
  "a.strange.token": "repo:evil/x",
};
const identify = identifier(known, { now: () => now, subjectOf: async (_, given) => claims[given] });

const plain: CallerEvidence = {
  ...{ method: "POST", path: "/reconcile/Job/a/b?x=1", body: "{}", timestamp: String(now / 1_000) },
  ...{ signature: "", authorization: "", arn: undefined },
};
const signedBy = (key: string, more: Partial<CallerEvidence> = {}): CallerEvidence => ({
  ...plain,
  signature: `sha256=${signature(key, plain)}`,
  ...more,
});

const rows: readonly { readonly name: string; readonly asking: CallerEvidence; readonly is: string | undefined }[] = [
  { name: "its newest key", asking: signedBy(fresh), is: "ci" },
  { name: "its previous key, so that keys change without a gap", asking: signedBy(old), is: "ci" },
  { name: "an unknown key", asking: signedBy("a key of somebody else's"), is: undefined },
  { name: "a signature for another query", asking: signedBy(fresh, { path: "/reconcile/Job/a/b?x=2" }), is: undefined },
  { name: "a signature for another method", asking: signedBy(fresh, { method: "GET" }), is: undefined },
  {
    name: "an invalid signature beside a valid token",
    asking: signedBy("x", { authorization: `Bearer ${token}` }),
    is: undefined,
  },
  { name: "its token", asking: { ...plain, authorization: `Bearer ${token}` }, is: "alerts" },
  { name: "half of its token", asking: { ...plain, authorization: `Bearer ${token.slice(0, 16)}` }, is: undefined },
  { name: "a key in place of a token", asking: { ...plain, authorization: `Bearer ${fresh}` }, is: undefined },
  {
    name: "a token of its identity provider",
    asking: { ...plain, authorization: "Bearer a.good.token" },
    is: "actions",
  },
  {
    name: "a token of its identity provider for another subject",
    asking: { ...plain, authorization: "Bearer a.strange.token" },
    is: undefined,
  },
  {
    name: "a token that cannot be verified",
    asking: { ...plain, authorization: "Bearer not.even.one" },
    is: undefined,
  },
  {
    name: "its ARN from API Gateway",
    asking: { ...plain, arn: "arn:aws:sts::123456789012:assumed-role/spot/s1" },
    is: "spot",
  },
  { name: "another ARN from API Gateway", asking: { ...plain, arn: "arn:aws:iam::1:user/x" }, is: undefined },
  { name: "no proof", asking: plain, is: undefined },
];

describe("a caller is identified by", () => {
  for (const { name, asking, is } of rows)
    test(`${name}: ${is ?? "nobody"}`, async () => {
      assert.equal((await identify(asking))?.name, is);
    });

  test("its signature, unless the timestamp is before the window", async () => {
    const timestamp = String(now / 1_000 - 271);
    const asking = { ...plain, timestamp };
    assert.equal(await identify({ ...asking, signature: signature(fresh, asking) }), undefined);
  });
});

describe("callers", () => {
  const wrong: readonly { readonly name: string; readonly given: unknown; readonly says: RegExp }[] = [
    { name: "without a proof", given: [{ name: "a" }], says: /keys, tokens, oidc or iam are needed/ },
    { name: "with a short key", given: [{ name: "a", keys: ["short"] }], says: /at least 16 characters/ },
    {
      name: "with the same name",
      given: [1, 2].map(() => ({ name: "a", keys: [fresh] })),
      says: /a name occurs twice/,
    },
    { name: "with an unknown field", given: [{ name: "a", keys: [fresh], mays: [] }], says: /mays/ },
    {
      name: "with keys fetched without TLS",
      given: [{ name: "a", oidc: { issuer: "http://idp.example", audience: "x", subject: "y" } }],
      says: /https:\/\/ is needed/,
    },
    {
      name: "that may send notices, in some namespaces",
      given: [{ name: "a", keys: [fresh], may: ["notice"], namespaces: ["b"] }],
      says: /nodes have no namespace/,
    },
  ];
  for (const { name, given, says } of wrong)
    test(`${name} are refused`, () => {
      assert.match(JSON.stringify(callers.safeParse(given).error?.issues), says);
    });

  test("by one secret may do everything but change objects on the page, and several secrets may be valid at once", () => {
    const { keys, may, namespaces } = holderOf(`${fresh}\n${old}\n`);
    assert.deepEqual([keys, may, namespaces], [[fresh, old], ["trigger", "notice", "read", "enclose"], []]);
  });

  test("reach their own namespaces only", () => {
    const held = { ...holderOf(fresh), namespaces: ["a"] };
    assert.deepEqual([mayReach(held, "a"), mayReach(held, "b"), mayReach(holderOf(fresh), "b")], [true, false, true]);
  });

  const patterns = [
    { pattern: "a*c", text: "abc", is: true },
    { pattern: "a*c", text: "ac", is: true },
    { pattern: "a*", text: "ba", is: false },
    { pattern: "a*b*c", text: "a-b-c", is: true },
    { pattern: "a*b*c", text: "a-c", is: false },
    { pattern: "ab*ba", text: "aba", is: false },
    { pattern: "abc", text: "abcd", is: false },
    { pattern: "a.c", text: "abc", is: false },
  ];
  for (const { pattern, text, is } of patterns)
    test(`match with ${pattern}: it ${is ? "stands" : "does not stand"} for ${text}`, () =>
      assert.equal(matches(pattern, text), is));
});

test("wait when they exceed their rate, each for itself, and get the time to wait", () => {
  let at = 0;
  const rate = openRate(() => at);
  const first = Array.from({ length: 60 }, () => rate("a", 60));
  assert.deepEqual([Math.max(...first), rate("a", 60), rate("b", 60)], [0, 1, 0]);
  at = 500;
  assert.equal(rate("a", 60), 1);
  at = 1_000;
  assert.deepEqual([rate("a", 60), rate("a", 60)], [0, 1]);
});
