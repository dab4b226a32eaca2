/** Queues of a lane: a FIFO queue with a dead-letter queue, and a standard queue for timers. */
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SQSClient,
} from "@aws-sdk/client-sqs";

/** Invented: no emulator checks them. */
export const credentials = { accessKeyId: "local", secretAccessKey: "local" } as const;
export const region = "eu-west-1";

export const openClient = (endpoint: string): SQSClient => new SQSClient({ endpoint, region, credentials });

export type Queues = { readonly fifo: string; readonly delay: string; readonly dead: string };

/** The visibility timeout: 6 × the function's timeout in a cloud, seconds in a test. */
export type QueueSettings = { readonly visibilitySeconds: number; readonly maxReceiveCount: number };

export const createQueues = async (client: SQSClient, name: string, settings: QueueSettings): Promise<Queues> => {
  const create = async (QueueName: string, Attributes: Record<string, string>): Promise<string> =>
    (await client.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? "";
  const visible = { VisibilityTimeout: String(settings.visibilitySeconds) };
  const fifo = { FifoQueue: "true", ContentBasedDeduplication: "false" };
  const dead = await create(`${name}-dead.fifo`, fifo);
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: dead, AttributeNames: ["QueueArn"] }),
  );
  const redrive = { deadLetterTargetArn: Attributes?.["QueueArn"], maxReceiveCount: settings.maxReceiveCount };
  return {
    dead,
    fifo: await create(`${name}.fifo`, { ...fifo, ...visible, RedrivePolicy: JSON.stringify(redrive) }),
    delay: await create(`${name}-later`, visible),
  };
};

/** Returns the number of messages, including hidden and delayed ones. */
export const depthOf = async (client: SQSClient, url: string): Promise<number> => {
  const AttributeNames = [
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
  ] as const;
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...AttributeNames] }),
  );
  return AttributeNames.reduce((sum, name) => sum + Number(Attributes?.[name] ?? 0), 0);
};

/** Sends all entries in order, ten at a time. */
export const sendAll = async (
  client: SQSClient,
  url: string,
  entries: readonly Omit<SendMessageBatchRequestEntry, "Id">[],
): Promise<void> => {
  for (let start = 0; start < entries.length; start += 10) {
    const Entries = entries.slice(start, start + 10).map((entry, index) => ({ ...entry, Id: String(index) }));
    const { Failed } = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
    if (Failed !== undefined && Failed.length > 0) throw new Error(`the queue refused ${JSON.stringify(Failed)}`);
  }
};
