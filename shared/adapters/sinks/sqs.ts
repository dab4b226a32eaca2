/**
 * Updates to an SQS queue of the operator's choice: that the queue took one is its acknowledgement. The queue is judged at
 * every delivery, for it may come from a record or an annotation that somebody else has written.
 */
import type { Sink } from "../../core/sink.ts";
import { openSqs, type Sqs } from "../sqs/client.ts";

const patienceMs = 2_000;

/** The URL of the queue that an ARN names; undefined for any other text. */
const urlOf = (text: string): string | undefined => {
  const [, partition, region, account, name] =
    /^arn:(aws|aws-cn|aws-us-gov):sqs:([a-z0-9-]{1,32}):(\d{12}):([\w-]{1,80}(?:\.fifo)?)$/.exec(text) ?? [];
  if (partition === undefined) return undefined;
  return `https://sqs.${region}.amazonaws.com${partition === "aws-cn" ? ".cn" : ""}/${account}/${name}`;
};

/** `queues`: URLs or ARNs. */
const isListed = (to: string, queues: readonly string[]): boolean =>
  queues.some((queue) => queue === to || urlOf(queue) === to);

/** `to` is the queue's URL, `queues` those that the operator lists. On a FIFO queue a stream is a group, and a copy vanishes. */
export const sqsSink =
  (queues: readonly string[], sqs: Sqs = openSqs()): Sink =>
  async (to, { body, id, stream, key, trace }) => {
    if (!isListed(to, queues))
      return { did: "refused", error: "the queue is not on the operator's list: add it to --updates-queues" };
    const fifo = to.endsWith(".fifo") ? { MessageGroupId: stream, MessageDeduplicationId: id } : {};
    const attribute = (StringValue: string) => ({ DataType: "String", StringValue });
    const MessageAttributes = { "content-type": attribute("application/cloudevents+json"), kind: attribute(key.kind) };
    const traced = trace === undefined ? {} : { traceparent: attribute(trace) };
    try {
      await sqs("SendMessage", to, async ({ client, sdk }) => {
        const command = new sdk.SendMessageCommand({
          QueueUrl: to,
          MessageBody: body,
          MessageAttributes: { ...MessageAttributes, ...traced },
          ...fifo,
        });
        await client.send(command, { abortSignal: AbortSignal.timeout(patienceMs), requestTimeout: patienceMs });
      });
      return { did: "acknowledged" };
    } catch (cause) {
      return { did: "failed", error: cause instanceof Error ? cause.message : "the queue did not take it" };
    }
  };
