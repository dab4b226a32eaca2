/** Acknowledgements over HTTP: forged, outdated and invalid ones never reach a delivery. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { apiApp } from "../../../functions/api.ts";
import type { Message } from "../../../shared/core/key.ts";
import { listenerKey, signature } from "../../../shared/core/signature.ts";
import { acknowledgingFor } from "../../../shared/deployments/common/authentication.ts";
import { acknowledgementIn } from "../../../shared/updates/acknowledgement.ts";

const secret = "a secret of sixteen letters";
const id = `${"a".repeat(16)}/3`;
const path = "/acknowledge/SparkApplication/default/pi";
const listener = "https://listener.example/hook?team=a";
const other = "https://other.example/hook";

const open = (given: string | undefined = secret) => {
  const sent: Message[] = [];
  const app = apiApp({
    ready: () => true,
    kinds: () => ["SparkApplication"],
    trigger: async () => {},
    notice: async () => {},
    plurals: {},
    identify: undefined,
    acknowledging: acknowledgingFor("here", given === "" ? undefined : async () => given, async (message) => {
      sent.push(message);
    }),
  });
  return { app, sent };
};

type Given = {
  readonly path?: string;
  readonly body?: string;
  readonly key?: string;
  /** The listener that the request names. */
  readonly listener?: string | undefined;
  readonly age?: number;
  readonly signedPath?: string;
};

const request = ({
  path: at = path,
  body = id,
  key = listenerKey(secret, listener),
  age = 0,
  signedPath = at,
  ...more
}: Given = {}): Request => {
  const timestamp = String(Math.floor(Date.now() / 1_000) - age);
  const hex = signature(key, { timestamp, method: "POST", path: signedPath, body });
  const proof = { "x-rekindle-timestamp": timestamp, "x-rekindle-signature": `sha256=${hex}` };
  const { listener: named } = { listener, ...more };
  const headers = named === undefined ? proof : { ...proof, "x-rekindle-listener": named };
  return new Request(`http://door${at}`, { method: "POST", headers, body });
};

test("a signed acknowledgement reaches the delivery of its key", async () => {
  const { app, sent } = open();
  assert.equal((await app.fetch(request())).status, 202);
  const key = { cluster: "here", kind: "updates.SparkApplication", namespace: "default", name: "pi" };
  const [{ reason } = { reason: "" }] = sent;
  assert.deepEqual(sent, [{ ...key, reason }]);
  const given = acknowledgementIn({ ...key, reason });
  assert.deepEqual(given?.position, { stream: "a".repeat(16), sequence: 3 });
  assert.deepEqual([given?.isBy(listener), given?.isBy(other)], [true, false]);
  assert.ok(!reason.includes("listener.example"), "messages are logged, and a listener's URL may hold a token");
});

test("an acknowledgement with another form of the listener's URL has the key of the normal form", async () => {
  const { app, sent } = open();
  const named = "HTTPS://Listener.example:443/hook?team=a";
  assert.equal((await app.fetch(request({ listener: named }))).status, 202);
  assert.deepEqual(
    sent.map((message) => acknowledgementIn(message)?.isBy(listener)),
    [true],
  );
});

const rows: readonly (readonly [what: string, given: Given, status: number])[] = [
  ["an acknowledgement under another secret", { key: listenerKey("another secret of mine", listener) }, 401],
  ["an acknowledgement under the secret itself", { key: secret }, 401],
  ["an acknowledgement under another listener's key", { key: listenerKey(secret, other) }, 401],
  [
    "an acknowledgement by another listener in the name of this one",
    { key: listenerKey(secret, other), listener },
    401,
  ],
  ["an acknowledgement that does not name its listener", { listener: undefined }, 401],
  ["an acknowledgement by a listener without a URL", { key: listenerKey(secret, "events"), listener: "events" }, 401],
  [
    "an acknowledgement by the operator's listener under its name",
    { key: listenerKey(secret, "operator"), listener: "operator" },
    401,
  ],
  [
    "an acknowledgement that is signed for another application",
    { signedPath: "/acknowledge/SparkApplication/default/other" },
    401,
  ],
  ["an acknowledgement that was signed six minutes ago", { age: 360 }, 401],
  ["an acknowledgement for an unknown kind", { path: "/acknowledge/Pod/default/pi" }, 404],
  ["an acknowledgement whose body is no id", { body: "../../secrets" }, 400],
  ["an acknowledgement whose body is too large", { body: "x".repeat(70_000) }, 413],
];
for (const [what, given, status] of rows)
  test(`${what} is refused with ${status}, and nothing is sent`, async () => {
    const { app, sent } = open();
    assert.deepEqual([(await app.fetch(request(given))).status, sent], [status, []]);
  });

test("without a secret the path of acknowledgements does not exist", async () => {
  const { app, sent } = open("");
  assert.deepEqual([(await app.fetch(request())).status, sent], [404, []]);
});
