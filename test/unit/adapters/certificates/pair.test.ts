/** Generated certificates: their authority, names and validity, and their replacement. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { createServer, request } from "node:https";
import { describe, test } from "node:test";
import { bundled, isFresh, makePair, type Pair } from "../../../../shared/adapters/certificates/pair.ts";

const now = Date.UTC(2026, 10, 21);
const day = 86_400_000;
const names = ["door.team.svc", "door.team.svc.cluster.local", "127.0.0.1"];

/** Returns the status that a client with the authority `ca` gets from a server with this pair, or the error. */
const asked = async ({ cert, key }: Pair, ca: string, servername: string): Promise<string> => {
  const server = createServer({ cert, key }, (_, answer) => answer.end("ok"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const outcome = await new Promise<string>((resolve) => {
    const sent = request({ host: "127.0.0.1", port, ca, servername, agent: false }, (answer) => {
      answer.resume();
      resolve(String(answer.statusCode));
    });
    sent.on("error", (cause) => resolve(cause.message));
    sent.end();
  });
  server.close();
  return outcome;
};

const today = await makePair(names, Date.now());

describe("a certificate", () => {
  test("is trusted by a client with its authority, for its names and no other", async () => {
    assert.equal(await asked(today, today.ca, "door.team.svc"), "200");
    assert.match(await asked(today, today.ca, "door.other.svc"), /does not match|Hostname/);
    const stranger = await makePair(names, Date.now());
    assert.match(await asked(today, stranger.ca, "door.team.svc"), /unable to verify|self.signed|issuer/);
  });

  test("has an authority whose private key is not kept", () => {
    const [authority, leaf] = [new X509Certificate(today.ca), new X509Certificate(today.cert)];
    assert.equal(authority.ca, true);
    assert.equal(leaf.ca, false);
    assert.ok(leaf.verify(authority.publicKey));
    assert.ok(!leaf.publicKey.equals(authority.publicKey));
    assert.equal((today.key.match(/BEGIN/g) ?? []).length, 1);
  });

  const fresh: readonly (readonly [string, number, readonly string[], boolean])[] = [
    ["at once", 0, names, true],
    ["for two thirds of its year", 240 * day, names, true],
    ["but not in its last third", 250 * day, names, false],
    ["not for another name", 0, [...names, "else.svc"], false],
    ["not for another address", 0, ["127.0.0.2"], false],
  ];
  for (const [what, later, wanted, is] of fresh)
    test(`is fresh ${what}`, async () => assert.equal(isFresh(await makePair(names, now), wanted, now + later), is));

  test("is not fresh if it cannot be read", () => {
    assert.equal(isFresh({ ca: "", cert: "", key: "" }, names, now), false);
    assert.equal(isFresh({ ca: "", cert: "-----BEGIN CERTIFICATE-----\nAAAA", key: "" }, names, now), false);
  });
});

describe("a bundle of authorities", () => {
  test("holds the new authority and the previous one, each once, and no expired one", async () => {
    const [first, second] = [await makePair(names, now), await makePair(names, now + 250 * day)];
    const both = bundled(second.ca, first.ca, now + 250 * day);
    assert.equal((both.match(/BEGIN/g) ?? []).length, 2);
    assert.equal(bundled(second.ca, both, now + 250 * day), both);
    assert.equal((bundled(second.ca, both, now + 370 * day).match(/BEGIN/g) ?? []).length, 1);
    assert.equal((bundled(second.ca, "nonsense", now).match(/BEGIN/g) ?? []).length, 1);
  });

  test("lets a client trust the certificates of both authorities", async () => {
    const next = await makePair(names, Date.now() + 1_000);
    const both = bundled(next.ca, today.ca, Date.now());
    assert.equal(await asked(today, both, "door.team.svc"), "200");
    assert.equal(await asked(next, both, "door.team.svc"), "200");
  });
});
