/** The built handlers: the message of each for an incomplete environment or an unknown event. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as api from "../../../functions/api.ts";
import * as forward from "../../../functions/forward.ts";
import * as reconcile from "../../../functions/reconcile.ts";
import * as resync from "../../../functions/resync.ts";
import * as wake from "../../../functions/wake.ts";
import { isRecord } from "../../../shared/core/json.ts";
import { signature } from "../../../shared/core/signature.ts";

import { openFake, taken } from "../adapters/sqs/fake.ts";

const secret = "a secret of more than sixteen";

const httpEvent = (method: string, path: string, headers: Record<string, string> = {}) =>
  JSON.parse(
    JSON.stringify({
      version: "2.0",
      rawPath: path,
      rawQueryString: "",
      headers: { host: "door", ...headers },
      requestContext: { http: { method, path } },
    }),
  );

describe("without an environment", () => {
  const functions = [
    { name: "forward", call: () => forward.handler({}), asks: ["REKINDLE_CLUSTER_RECORD", "REKINDLE_FIFO_URL"] },
    { name: "resync", call: () => resync.handler({}), asks: ["REKINDLE_CLUSTER_RECORD", "REKINDLE_FIFO_URL"] },
    {
      name: "reconcile",
      call: () => reconcile.handler({ Records: [] }),
      asks: ["REKINDLE_CLUSTER_RECORD", "REKINDLE_FIFO_URL", "REKINDLE_DELAY_URL"],
    },
    { name: "wake", call: () => wake.handler({ Records: [] }), asks: ["REKINDLE_FIFO_URL"] },
    { name: "api", call: () => api.handler(httpEvent("GET", "/healthz")), asks: ["REKINDLE_FIFO_URL"] },
  ];
  for (const { name, call, asks } of functions) {
    test(`the function ${name} names exactly the variables that it needs`, async () => {
      await assert.rejects(
        async () => call(),
        (error: Error) => {
          assert.deepEqual(error.message.match(/REKINDLE_\w+/g), asks);
          return true;
        },
      );
    });
  }
});

test("the wake function sends a batch of ten in one request", async () => {
  const fake = await openFake(taken);
  process.env["REKINDLE_FIFO_URL"] = `${fake.url}/0/keys.fifo`;
  const record = (at: number) => ({
    messageId: `m-${at}`,
    body: JSON.stringify({
      id: `t-${at}`,
      message: { cluster: "c", kind: "Toy", namespace: "ns", name: `a${at}`, reason: "timer" },
    }),
  });
  try {
    const Records = Array.from({ length: 10 }, (_, at) => record(at));
    assert.deepEqual(await wake.handler({ Records }), { batchItemFailures: [] });
    assert.deepEqual(
      fake.asked.map(({ action }) => action),
      ["SendMessageBatch"],
    );
    await assert.rejects(wake.handler({ source: "aws.events" }), /takes batches of an SQS queue/);
  } finally {
    fake.close();
  }
});

test("the api function accepts a signed trigger, and sends its key", async () => {
  const fake = await openFake(taken);
  process.env["REKINDLE_FIFO_URL"] = `${fake.url}/0/keys.fifo`;
  process.env["REKINDLE_TRIGGER_SECRET"] = secret;
  const path = "/reconcile/SparkApplication/default/pi";
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const given = signature(secret, { timestamp, method: "POST", path, body: "" });
  const headers = { "x-rekindle-timestamp": timestamp, "x-rekindle-signature": `sha256=${given}` };
  try {
    assert.equal((await api.handler(httpEvent("GET", "/healthz"))).statusCode, 200);
    assert.equal((await api.handler(httpEvent("POST", path))).statusCode, 401);
    assert.equal((await api.handler(httpEvent("POST", path, headers))).statusCode, 202);
    const [first] = fake.asked;
    assert.equal(fake.asked.length, 1);
    const body: unknown = JSON.parse(String(first?.input["MessageBody"]));
    assert.ok(isRecord(body));
    assert.deepEqual([body["cluster"], body["name"], body["reason"]], ["default", "pi", "trigger"]);
  } finally {
    fake.close();
  }
});
