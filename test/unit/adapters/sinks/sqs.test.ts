/**
 * Queues that may receive an update: the operator's list is checked at every delivery, whatever a record or an
 * annotation says.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sqsSink } from "../../../../shared/adapters/sinks/all.ts";
import type { Sqs } from "../../../../shared/adapters/sqs/client.ts";
import type { SentUpdate, Sink } from "../../../../shared/core/updates.ts";

const url = "https://sqs.eu-central-1.amazonaws.com/123456789012/updates.fifo";
const arn = "arn:aws:sqs:eu-central-1:123456789012:updates.fifo";

const parcel: SentUpdate = {
  key: { cluster: "c", kind: "Toy", namespace: "ns", name: "bear" },
  uid: "u",
  id: "0123456789abcdef/1",
  stream: "0123456789abcdef",
  update: { state: "RUNNING", attempt: 1, terminal: false, sequence: 1, uid: "u", at: 0 },
  body: "{}",
};

/** Returns the sink, and the queues to which it sent; nothing leaves the test. */
const opened = (queues: readonly string[]): { readonly sink: Sink; readonly sent: string[] } => {
  const sent: string[] = [];
  const sqs: Sqs = async (_, queue) => {
    sent.push(queue);
    throw new Error("no queue here");
  };
  return { sink: sqsSink(queues, sqs), sent };
};

const rows: readonly (readonly [why: string, queues: readonly string[], to: string, isSent: boolean])[] = [
  ["its URL is listed", [url], url, true],
  ["its ARN is listed", [arn], url, true],
  ["nothing is listed", [], url, false],
  ["another queue of the account is listed", [arn.replace("updates", "others")], url, false],
  ["an endpoint of another domain has the same path", [arn], url.replace("amazonaws.com", "evil.example"), false],
  ["the listed URL is only a prefix", [url], `${url}/x`, false],
  ["its URL has a user", [arn], url.replace("https://", "https://sqs.eu-central-1.amazonaws.com@evil.example/"), false],
];

describe("a queue receives an update only if the operator lists it:", () => {
  for (const [why, queues, to, isSent] of rows)
    test(`${why}: ${isSent ? "sent" : "refused"}`, async () => {
      const { sink, sent } = opened(queues);
      assert.equal((await sink(to, parcel, 0)).did, isSent ? "failed" : "refused");
      assert.deepEqual(sent, isSent ? [to] : []);
    });
});
