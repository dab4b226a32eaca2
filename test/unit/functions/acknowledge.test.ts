/** Acknowledgements through the HTTP door: forged, stale and senseless ones never reach a delivery. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { apiApp } from "../../../functions/api.ts";
import type { Message } from "../../../shared/core/key.ts";
import { signature } from "../../../shared/core/signature.ts";
import { acknowledgingFor } from "../../../shared/deployments/api/acknowledgements.ts";

const secret = "a secret of sixteen letters";
const id = `${"a".repeat(16)}/3`;
const path = "/acknowledge/SparkApplication/default/pi";

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
  readonly secret?: string;
  readonly age?: number;
  readonly signedPath?: string;
};

const request = ({
  path: at = path,
  body = id,
  secret: key = secret,
  age = 0,
  signedPath = at,
}: Given = {}): Request => {
  const timestamp = String(Math.floor(Date.now() / 1_000) - age);
  const hex = signature(key, { timestamp, method: "POST", path: signedPath, body });
  const headers = { "x-rekindle-timestamp": timestamp, "x-rekindle-signature": `sha256=${hex}` };
  return new Request(`http://door${at}`, { method: "POST", headers, body });
};

test("a signed acknowledgement reaches the delivery of its key", async () => {
  const { app, sent } = open();
  assert.equal((await app.fetch(request())).status, 202);
  const key = { cluster: "here", kind: "updates.SparkApplication", namespace: "default", name: "pi" };
  assert.deepEqual(sent, [{ ...key, reason: `acknowledged ${id}` }]);
});

const rows: readonly (readonly [what: string, given: Given, status: number])[] = [
  ["another secret's", { secret: "another secret of mine" }, 401],
  ["one signed for another application", { signedPath: "/acknowledge/SparkApplication/default/other" }, 401],
  ["one of six minutes ago, however well signed", { age: 360 }, 401],
  ["one of an unknown kind", { path: "/acknowledge/Pod/default/pi" }, 404],
  ["one whose body is no id", { body: "../../secrets" }, 400],
  ["one whose body is endless", { body: "x".repeat(70_000) }, 413],
];
for (const [what, given, status] of rows)
  test(`${what} is refused with ${status}, and nothing is sent`, async () => {
    const { app, sent } = open();
    assert.deepEqual([(await app.fetch(request(given))).status, sent], [status, []]);
  });

test("without a secret there is no such door", async () => {
  const { app, sent } = open("");
  assert.deepEqual([(await app.fetch(request())).status, sent], [404, []]);
});
