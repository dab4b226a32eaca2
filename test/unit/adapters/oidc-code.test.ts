/** Id tokens that must not sign anybody in, and keys that change, against a small provider that signs with jose. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { openCodeFlow } from "../../../shared/adapters/oidc-code.ts";
import { listening } from "../../support/port.ts";

const keyOf = async (kid: string) => {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  return { kid, key: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" } };
};
const [first, second, stranger] = await Promise.all([keyOf("k1"), keyOf("k2"), keyOf("k1")]);

let published = [first.jwk];
/** The answer of the token endpoint. */
let idToken = "";
let issuer = "";
let asked: string[] = [];
let more: object = {};
const server = createServer((request, answer) => {
  asked.push(request.url ?? "");
  answer.setHeader("content-type", "application/json");
  const answers: Readonly<Record<string, object>> = {
    "/.well-known/openid-configuration": {
      ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
      ...{ jwks_uri: `${issuer}/keys`, ...more },
    },
    "/token": { id_token: idToken, access_token: "never-used" },
    "/keys": { keys: published },
  };
  answer.end(JSON.stringify(answers[request.url ?? ""] ?? {}));
});
before(async () => {
  issuer = `http://127.0.0.1:${await listening(server)}`;
});
after(() => server.close());

const open = (now?: () => number) =>
  openCodeFlow(
    {
      ...{ issuer, clientId: "page", scopes: ["openid"], redirectUri: "http://127.0.0.1:9/page/callback" },
      clientSecret: async () => "a-secret-of-the-tests",
    },
    now,
  );

const pending = { state: "s", nonce: "n", verifier: "v" };
const nowS = (): number => Math.floor(Date.now() / 1_000);

const claimsOf = (other: object = {}) => ({
  ...{ iss: issuer, aud: "page", sub: "alice", nonce: "n", iat: nowS(), exp: nowS() + 300, ...other },
});

const signed = (other: object = {}, by = first): Promise<string> =>
  new SignJWT(claimsOf(other)).setProtectedHeader({ alg: "ES256", kid: by.kid }).sign(by.key);

const refusedFor = async (token: string, flow = open()): Promise<string> => {
  idToken = token;
  const found = await flow.claims("code", pending);
  return "refused" in found ? found.refused : "taken";
};

describe("an id token", () => {
  test("of the provider yields its claims, with clocks that differ by less than 30 s", async () => {
    assert.equal(await refusedFor(await signed()), "taken");
    assert.equal(await refusedFor(await signed({ iat: nowS() + 20, exp: nowS() - 20 })), "taken");
  });

  const rows: readonly (readonly [name: string, token: () => Promise<string>, says: RegExp])[] = [
    ["with alg none", async () => new UnsecuredJWT(claimsOf()).encode(), /algorithm is not accepted/],
    [
      "with the client secret as its key",
      () =>
        new SignJWT(claimsOf())
          .setProtectedHeader({ alg: "HS256" })
          .sign(Buffer.from("a-secret-of-the-tests-and-more-of-it")),
      /algorithm is not accepted/,
    ],
    ["with another nonce", () => signed({ nonce: "other" }), /belongs to another sign-in \(nonce\)/],
    ["without a nonce", () => signed({ nonce: undefined }), /belongs to another sign-in \(nonce\)/],
    ["for another client", () => signed({ aud: "other" }), /another client than oidcClientId/],
    [
      "for two clients, at the wish of the other",
      () => signed({ aud: ["page", "other"], azp: "other" }),
      /another client/,
    ],
    ["of another issuer", () => signed({ iss: "https://evil.example" }), /another issuer than oidcIssuer/],
    [
      "that expired a minute ago",
      () => signed({ iat: nowS() - 120, exp: nowS() - 60 }),
      /clocks .* differ by more than 30 s/,
    ],
    ["from a minute ahead", () => signed({ iat: nowS() + 60 }), /clocks .* differ by more than 30 s/],
    ["signed with another key of the same id", () => signed({}, stranger), /signature is wrong/],
    ["signed with a key that is not published", () => signed({}, second), /a key that the provider does not publish/],
    ["that is none", async () => "a.b.c", /no signed token/],
  ];
  for (const [name, token, says] of rows)
    test(`${name} signs nobody in`, async () => {
      assert.match(await refusedFor(await token()), says);
    });

  test("signed with a new key is taken as soon as the provider publishes it", async () => {
    const flow = open();
    assert.equal(await refusedFor(await signed(), flow), "taken");
    published = [second.jwk, first.jwk];
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    assert.equal(await refusedFor(await signed({}, second), flow), "taken");
    published = [first.jwk];
  });
});

describe("a provider", () => {
  test("is asked once for its addresses and its keys, however many people sign in", async () => {
    asked = [];
    const flow = open();
    for (let nth = 0; nth < 5; nth += 1) assert.equal(await refusedFor(await signed(), flow), "taken");
    assert.deepEqual(asked.filter((path) => path !== "/token").sort(), ["/.well-known/openid-configuration", "/keys"]);
  });

  test("that failed is asked again after five seconds, not before", async () => {
    let now = 0;
    more = { token_endpoint: "http://elsewhere.example/token" };
    const flow = open(() => now);
    const begun = await flow.begin();
    assert.match("refused" in begun ? begun.refused : "", /names an address without TLS/);
    more = {};
    assert.ok("refused" in (await flow.begin()));
    now = 5_000;
    assert.ok("url" in (await flow.begin()));
  });

  test("of another name than the setting's is refused, and the name to write is told", async () => {
    more = { issuer: "https://other.example" };
    const begun = await open().begin();
    more = {};
    assert.match(
      "refused" in begun ? begun.refused : "",
      /calls itself https:\/\/other\.example: write this as oidcIssuer/,
    );
  });

  test("that answers without end is left after 256 kB", async () => {
    more = { padding: "x".repeat(300_000) };
    const begun = await open().begin();
    more = {};
    assert.match("refused" in begun ? begun.refused : "", /more than 262144 characters/);
  });
});
