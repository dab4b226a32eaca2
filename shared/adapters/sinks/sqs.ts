/** Updates to an SQS queue of the operator's choice: that the queue took one is its acknowledgement. */
import type { Sink } from "../../core/sink.ts";
import { openSqs, type Sqs } from "../sqs/client.ts";

const patienceMs = 2_000;

/** `to` is the queue's URL. On a FIFO queue a stream is a group, and a copy vanishes. */
export const sqsSink =
  (sqs: Sqs = openSqs()): Sink =>
  async (to, { body, id, stream, key, trace }) => {
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
