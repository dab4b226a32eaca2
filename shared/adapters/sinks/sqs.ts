/**
 * Sends updates to an SQS queue that the operator allows: the queue's acceptance is the acknowledgement. The queue is
 * checked at every delivery, because its URL may come from a record or an annotation that others can write.
 */
import type { Sink } from "../../core/sink.ts";
import { openSqs, type Sqs } from "../sqs/client.ts";

const timeLimitMs = 2_000;

/** Returns the URL of the queue that an ARN names; undefined for any other text. */
const urlOf = (text: string): string | undefined => {
  const [, partition, region, account, name] =
    /^arn:(aws|aws-cn|aws-us-gov):sqs:([a-z0-9-]{1,32}):(\d{12}):([\w-]{1,80}(?:\.fifo)?)$/.exec(text) ?? [];
  if (partition === undefined) return undefined;
  return `https://sqs.${region}.amazonaws.com${partition === "aws-cn" ? ".cn" : ""}/${account}/${name}`;
};

/** `queues`: URLs or ARNs. */
const isListed = (to: string, queues: readonly string[]): boolean =>
  queues.some((queue) => queue === to || urlOf(queue) === to);

/**
 * `to` is the queue's URL, `queues` those that the operator lists. On a FIFO queue each stream is a group, and a copy
 * is dropped.
 */
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
      const message = { MessageBody: body, MessageAttributes: { ...MessageAttributes, ...traced }, ...fifo };
      await sqs("SendMessage", to, message, { withinMs: timeLimitMs });
      return { did: "acknowledged" };
    } catch (cause) {
      return { did: "failed", error: cause instanceof Error ? cause.message : "the queue did not take it" };
    }
  };
