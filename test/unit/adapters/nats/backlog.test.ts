/** Messages that a worker holds: what the subject of an acknowledgement tells of a delivery. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { deliveryIn } from "../../../../shared/adapters/nats/locks.ts";

describe("the delivery that an acknowledgement's subject describes", () => {
  test("has its count, its place in the stream and its time, on servers with and without domains", () => {
    const expected = { received: 4, sequence: 17, sentAt: 1_700_000_000_123 };
    for (const reply of [
      "$JS.ACK.q.steps.4.17.9.1700000000123456789.0",
      "$JS.ACK.hub.ACCOUNT.q.steps.4.17.9.1700000000123456789.0",
      "$JS.ACK.hub.ACCOUNT.q.steps.4.17.9.1700000000123456789.0.random",
    ])
      assert.deepEqual(deliveryIn(reply), expected);
  });

  test("is undefined for another subject", () => {
    assert.equal(deliveryIn("_INBOX.1.2"), undefined);
  });
});
