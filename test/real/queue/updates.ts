/** Status updates to an operator's queue: Rekindle's sink and delivery, on a third-party server that speaks SQS. */

import assert from "node:assert/strict";
import { CreateQueueCommand, DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from "@aws-sdk/client-sqs";
import { sinkOf, sqsSink } from "../../../shared/adapters/sinks/all.ts";
import { openSqs } from "../../../shared/adapters/sqs/client.ts";
import { testCase } from "../../support/test-case.ts";
import { acknowledged, openStreet, type Street, silence } from "../../unit/updates/street.ts";

type Behaviour = { readonly name: string; readonly run: (client: SQSClient, name: string) => Promise<void> };

const create = async (client: SQSClient, name: string): Promise<string> => {
  const fifo = name.endsWith(".fifo") ? { FifoQueue: "true" } : {};
  const made = await client.send(new CreateQueueCommand({ QueueName: name, Attributes: fifo }));
  return made.QueueUrl ?? "";
};

const streetTo = (queue: string): Street => {
  const elsewhere = async (): Promise<never> => {
    throw new Error("another sink was asked");
  };
  return openStreet({
    to: `sqs:${queue}`,
    carrier: sinkOf({ https: elsewhere, sqs: sqsSink([queue], openSqs()), events: elsewhere }),
  });
};

/** Receives as a listener does; the messages stay hidden until they are deleted. */
const received = async (client: SQSClient, queue: string) => {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: queue,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ["All"],
      MessageAttributeNames: ["All"],
    }),
  );
  return Messages.map((one) => ({
    event: JSON.parse(one.Body ?? ""),
    group: one.Attributes?.MessageGroupId,
    attributes: Object.entries(one.MessageAttributes ?? {}).map(([name, { StringValue }]) => `${name}=${StringValue}`),
    done: () => client.send(new DeleteMessageCommand({ QueueUrl: queue, ReceiptHandle: one.ReceiptHandle })),
  }));
};

const statesOf = (all: Awaited<ReturnType<typeof received>>): readonly string[] =>
  all.map(({ event }) => event.data.state);

export const updates: readonly Behaviour[] = [
  testCase(
    "an update stands on the queue as a CloudEvent of its stream, and is acknowledged by that",
    async (client, name) => {
      const queue = await create(client, `${name}.fifo`);
      const street = streetTo(queue);
      await street.enter("RUNNING");
      const [one, ...others] = await received(client, queue);
      assert.deepEqual(others, []);
      const [heard] = street.heard;
      assert.deepEqual([one?.event.specversion, one?.event.id, one?.event.data.state], ["1.0", heard?.id, "RUNNING"]);
      assert.equal(`${one?.group}/1`, heard?.id);
      assert.deepEqual(one?.attributes.toSorted(), ["content-type=application/cloudevents+json", "kind=Toy"]);
      assert.equal((await street.cursor())?.acknowledged, 1);
      await street.pass(3_600_000);
      assert.equal(street.heard.length, 1);
    },
  ),
  testCase(
    "an update whose acknowledgement was lost is sent again, and stands on a FIFO queue once",
    async (client, name) => {
      const queue = await create(client, `${name}.fifo`);
      const street = streetTo(queue);
      street.answer = ({ sequence }) => (street.heard.length < 2 && sequence === 1 ? silence : acknowledged);
      await street.enter("RUNNING");
      await street.pass(60_000);
      assert.deepEqual(
        street.heard.map(({ answered }) => answered),
        ["failed", "failed", "acknowledged"],
      );
      assert.deepEqual(statesOf(await received(client, queue)), ["RUNNING"]);
      assert.equal((await street.cursor())?.acknowledged, 1);
    },
  ),
  testCase("of one application updates come in their order, and hold up no other's", async (client, name) => {
    const queue = await create(client, `${name}.fifo`);
    const [ada, bob] = [streetTo(queue), streetTo(queue)];
    await bob.pass(1_000);
    await ada.enter("SUBMITTED");
    await ada.enter("RUNNING");
    const out = await received(client, queue);
    assert.deepEqual(statesOf(out), ["SUBMITTED", "RUNNING"]);
    await bob.enter("SUBMITTED");
    await ada.enter("COMPLETED", { terminal: true });
    assert.deepEqual(statesOf(await received(client, queue)), ["SUBMITTED"]);
    for (const one of out) await one.done();
    assert.deepEqual(statesOf(await received(client, queue)), ["COMPLETED"]);
  }),
  testCase("an update to a queue that is not there waits, in order, until it is", async (client, name) => {
    const there = await create(client, `${name}-there`);
    const street = streetTo(there.replace(/[^/]*$/, `${name}-later`));
    await street.enter("SUBMITTED");
    await street.enter("RUNNING");
    assert.deepEqual(
      street.heard.map(({ answered }) => answered),
      ["failed"],
    );
    assert.match((await street.cursor())?.outstanding?.error ?? "", new RegExp(`${name}-later`));
    const queue = await create(client, `${name}-later`);
    await street.pass(10_000);
    assert.deepEqual(statesOf(await received(client, queue)).toSorted(), ["RUNNING", "SUBMITTED"]);
    assert.deepEqual(
      street.heard.map(({ state }) => state),
      ["SUBMITTED", "SUBMITTED", "RUNNING"],
    );
  }),
];
