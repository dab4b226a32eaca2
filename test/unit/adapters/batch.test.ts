/** Batches as Lambda writes them: the parsed fields, and events that are no batch. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { answerOf, recordsOf, remainingMsOf, runOf } from "../../../shared/adapters/lambda.ts";

const record = { messageId: "m", body: "{}", receiptHandle: "r", eventSource: "aws:sqs" };

describe("a batch", () => {
  const counts = [
    { given: { ApproximateReceiveCount: "4", SentTimestamp: "17", MessageGroupId: "g" }, received: 4, sentAt: 17 },
    { given: { ApproximateReceiveCount: "many", SentTimestamp: "soon" }, received: 1, sentAt: undefined },
    { given: {}, received: 1, sentAt: undefined },
    { given: undefined, received: 1, sentAt: undefined },
  ];
  for (const { given, received, sentAt } of counts) {
    test(`of a record with attributes ${JSON.stringify(given)} has its number of deliveries, ${received}`, () => {
      assert.deepEqual(recordsOf({ Records: [{ ...record, attributes: given }] }), [
        { id: "m", body: "{}", received, sentAt },
      ]);
    });
  }

  const others = [
    undefined,
    null,
    "text",
    {},
    { Records: {} },
    { Records: [{ messageId: "m" }] },
    { source: "aws.events" },
  ];
  for (const other of others) {
    test(`cannot be read from ${JSON.stringify(other)}, and the error is one line`, () => {
      assert.throws(() => recordsOf(other), /^Error: this function takes batches of an SQS queue, [^\n]*$/);
    });
  }

  test("is answered with the ids of the failed messages", () => {
    assert.deepEqual(answerOf(["a", "b"]), { batchItemFailures: [{ itemIdentifier: "a" }, { itemIdentifier: "b" }] });
  });
});

describe("an invocation", () => {
  const contexts = [
    { context: { getRemainingTimeInMillis: () => 12_345 }, ms: 12_345 },
    { context: { getRemainingTimeInMillis: () => Number.NaN }, ms: 30_000 },
    { context: {}, ms: 30_000 },
    { context: undefined, ms: 30_000 },
  ];
  for (const { context, ms } of contexts) {
    test(`has ${ms} ms left if getRemainingTimeInMillis is ${typeof context?.getRemainingTimeInMillis}`, () => {
      assert.equal(remainingMsOf(context), ms);
    });
  }

  for (const [event, run] of [
    [{ id: "e-1", source: "aws.events" }, "e-1"],
    [{ id: "" }, undefined],
    [{}, undefined],
    [undefined, undefined],
    ["text", undefined],
  ] as const) {
    test(`of the schedule event ${JSON.stringify(event)} has the run id ${run}`, () => assert.equal(runOf(event), run));
  }
});
