/** The queue on SQS: a FIFO queue for keys, a standard queue for what is due later. The client is loaded with the first send. */
import type { SQSClient } from "@aws-sdk/client-sqs";
import { groupOf, type Message } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";

/** URLs of the two queues. */
export type SqsQueues = { readonly fifo: string; readonly delay: string };

type Loaded = { readonly client: SQSClient; readonly sdk: typeof import("@aws-sdk/client-sqs") };

const load = async (): Promise<Loaded> => {
  const sdk = await import("@aws-sdk/client-sqs");
  return { client: new sdk.SQSClient({}), sdk };
};

/** Delays are cut to SQS's 900 s: the record's `wakeAt` is the truth, and a resync re-arms what is further away. */
export const sqsQueue = (queues: SqsQueues): Queue => {
  let loading: Promise<Loaded> | undefined;
  const loaded = (): Promise<Loaded> => {
    loading ??= load();
    return loading;
  };
  return {
    send: async (message, id) => {
      const { client, sdk } = await loaded();
      const sent = { QueueUrl: queues.fifo, MessageBody: JSON.stringify(message), MessageGroupId: groupOf(message) };
      await client.send(new sdk.SendMessageCommand({ ...sent, MessageDeduplicationId: id }));
    },
    sendLater: async (message: Message, id, delayMs) => {
      const { client, sdk } = await loaded();
      const delayed = { message, id };
      const DelaySeconds = Math.min(900, Math.max(0, Math.ceil(delayMs / 1_000)));
      const sent = { QueueUrl: queues.delay, MessageBody: JSON.stringify(delayed), DelaySeconds };
      await client.send(new sdk.SendMessageCommand(sent));
    },
  };
};
