/** Tokens of identity providers against keys that a provider publishes, rotates, and sometimes fails to serve. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { openSubjects } from "../../../shared/adapters/oidc.ts";
import { listening } from "../../support/port.ts";

type Key = {
  readonly kid: string;
  readonly key: Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];
  readonly jwk: object;
};

const keyOf = async (kid: string): Promise<Key> => {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  return { kid, key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
};

const [first, second, strange] = await Promise.all([keyOf("k1"), keyOf("k2"), keyOf("k1")]);
let published: readonly Key[] = [first];
let broken = false;
let asked = 0;
const server = createServer((request, answer) => {
  asked += 1;
  answer.statusCode = broken ? 500 : 200;
  answer.setHeader("content-type", "application/json");
  const isDiscovery = request.url === "/.well-known/openid-configuration";
  answer.end(
    JSON.stringify(isDiscovery ? { issuer, jwks_uri: `${issuer}/keys` } : { keys: published.map(({ jwk }) => jwk) }),
  );
});
let issuer = "";

before(async () => {
  issuer = `http://127.0.0.1:${await listening(server)}`;
});
after(() => server.close());

type Words = {
  readonly by?: Key;
  readonly audience?: string;
  readonly issuer?: string;
  readonly for?: string;
  readonly from?: string;
};

const tokenOf = ({ by = first, audience = "rekindle", from = issuer, for: lasts = "5m" }: Words & { from?: string }) =>
  new SignJWT({})
    .setProtectedHeader({ alg: "ES256", kid: by.kid })
    .setIssuer(from)
    .setAudience(audience)
    .setSubject("repo:acme")
    .setExpirationTime(lasts)
    .sign(by.key);

const provider = (more: object = {}) => ({ issuer, audience: "rekindle", jwks: `${issuer}/keys`, ...more });
const told: string[] = [];
const open = () => openSubjects((_, cause) => void told.push(String(cause)));

describe("a token", () => {
  test("of the provider yields its subject, with keys at a given URL or at the discovered one", async () => {
    const subjectOf = open();
    assert.equal(await subjectOf(provider(), await tokenOf({})), "repo:acme");
    assert.equal(await subjectOf(provider({ jwks: undefined }), await tokenOf({})), "repo:acme");
  });

  test("is verified with keys that are fetched once", async () => {
    const subjectOf = openSubjects(() => {});
    const before = asked;
    for (let round = 0; round < 5; round++) await subjectOf(provider(), await tokenOf({}));
    assert.equal(asked - before, 1);
  });

  const bad: readonly { readonly name: string; readonly words: Words }[] = [
    { name: "for another audience", words: { audience: "other" } },
    { name: "of another issuer", words: { from: "https://evil.example" } },
    { name: "that has expired", words: { for: "-1m" } },
    { name: "signed with another key of the same id", words: { by: strange } },
    { name: "signed with a key that is not published", words: { by: second } },
  ];
  for (const { name, words } of bad)
    test(`${name} yields no subject`, async () => {
      assert.equal(await open()(provider(), await tokenOf(words)), undefined);
    });

  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = () => ({ iss: issuer, aud: "rekindle", sub: "repo:acme", exp: Math.floor(Date.now() / 1_000) + 60 });

  test("that names a key of the provider that is too weak costs no other token anything", async () => {
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1_024 });
    const { kid, jwk, key } = first;
    const weak = { kid: "weak", key, jwk: { ...publicKey.export({ format: "jwk" }), kid: "weak", alg: "RS256" } };
    published = [{ kid, jwk, key }, weak];
    told.length = 0;
    const subjectOf = open();
    const token = `${part({ alg: "RS256", kid: "weak" })}.${part(claims())}.${"A".repeat(171)}`;
    assert.equal(await subjectOf(provider(), token), undefined);
    assert.equal(await subjectOf(provider(), await tokenOf({})), "repo:acme");
    assert.deepEqual(told, []);
    published = [first];
  });

  test("whose subject is a list yields none", async () => {
    const { sub: _, ...others } = claims();
    const list: Record<string, unknown> = JSON.parse(JSON.stringify({ ...others, sub: ["repo:acme"] }));
    const token = await new SignJWT(list).setProtectedHeader({ alg: "ES256", kid: first.kid }).sign(first.key);
    assert.equal(await open()(provider(), token), undefined);
  });

  test("without a signature yields no subject", async () => {
    assert.equal(await open()(provider(), `${part({ alg: "none" })}.${part(claims())}.`), undefined);
  });

  test("signed with a rotated provider's new key yields its subject, and with the old key none", async () => {
    published = [second];
    const subjectOf = open();
    assert.equal(await subjectOf(provider(), await tokenOf({ by: second })), "repo:acme");
    assert.equal(await subjectOf(provider(), await tokenOf({ by: first })), undefined);
    published = [first];
  });

  test("yields no subject while the provider fails, which is logged once, and its subject afterwards", async () => {
    broken = true;
    const time = { now: 0 };
    const subjectOf = openSubjects(
      (_, cause) => void told.push(String(cause)),
      () => time.now,
    );
    assert.equal(await subjectOf(provider({ jwks: undefined }), await tokenOf({})), undefined);
    assert.equal(told.length, 1);
    const before = asked;
    for (let stranger = 0; stranger < 20; stranger += 1)
      assert.equal(await subjectOf(provider({ jwks: undefined }), await tokenOf({ by: strange })), undefined);
    assert.deepEqual([asked, told.length], [before, 1], "a stranger's token costs no request while it is down");
    broken = false;
    time.now += 10_000;
    assert.equal(await subjectOf(provider({ jwks: undefined }), await tokenOf({})), "repo:acme");
  });
});
