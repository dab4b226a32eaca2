/**
 * Sinks of status updates beside HTTPS, and the choice among all by the form of the listener: a Kubernetes Event on
 * the object, which was sent before if it exists; or a message to an SQS queue that the operator allows, whose
 * acceptance is the acknowledgement.
 */

import { eventOf, events } from "../../core/event.ts";
import { ApiError } from "../../core/http.ts";
import type { Resource } from "../../core/object.ts";
import { listenerForms, type Sink } from "../../core/updates.ts";
import type { Cluster } from "../../engine/ports.ts";
import { openSqs, type Sqs } from "../sqs/client.ts";

export type Sinks = { readonly https: Sink; readonly sqs: Sink; readonly events: Sink };

/** Prefix of a listener that is an SQS queue; not part of the queue's URL. */
export const sqsScheme = "sqs:";

/** Returns the sink of all listeners. */
export const sinkOf =
  ({ https, sqs, events }: Sinks): Sink =>
  async (to, sentUpdate, now) => {
    if (to === "events") return await events(to, sentUpdate, now);
    if (to.startsWith(sqsScheme)) return await sqs(to.slice(sqsScheme.length), sentUpdate, now);
    if (/^https?:/.test(to)) return await https(to, sentUpdate, now);
    const error = to.startsWith("refused:") ? to.slice("refused:".length).trim() : `write ${listenerForms}`;
    return { did: "refused", error };
  };

type Parts = {
  readonly cluster: Pick<Cluster, "create">;
  readonly resourceOf: (kind: string) => Resource | undefined;
};

export const eventSink =
  ({ cluster, resourceOf }: Parts): Sink =>
  async (_, { key, update, uid, id }, now) => {
    const subject = resourceOf(key.kind);
    if (subject === undefined) return { did: "refused", error: `${key.kind} is not a kind that Rekindle runs` };
    const { state, attempt, message } = update;
    const input = {
      about: { name: key.name, uid, ...(key.namespace === "" ? {} : { namespace: key.namespace }) },
      subject,
      occasion: id,
      type: "Normal",
      reason: "StatusUpdate",
      message: `${state}, attempt ${attempt}${message === undefined ? "" : `: ${message}`}`,
    } as const;
    const event = eventOf(input, now);
    const { name, namespace = key.namespace } = event.metadata;
    try {
      await cluster.create({ resource: events, namespace, name }, event);
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      if (cause.status !== 409)
        return { did: "failed", error: `the API server did not accept the Event (${cause.reason})` };
    }
    return { did: "acknowledged" };
  };

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
      const attributes = { ...MessageAttributes, ...traced };
      const message = { QueueUrl: to, MessageBody: body, MessageAttributes: attributes, ...fifo };
      await sqs(
        "SendMessage",
        to,
        ({ client, sdk }, limits) => client.send(new sdk.SendMessageCommand(message), limits),
        { withinMs: timeLimitMs },
      );
      return { did: "acknowledged" };
    } catch (cause) {
      return { did: "failed", error: cause instanceof Error ? cause.message : "the queue did not accept it" };
    }
  };
