/**
 * The shapes of Lambda: the event in which it passes a batch of SQS messages, with the answer that it expects; the
 * context of an invocation: the remaining time, and the id of a scheduled run.
 */
import * as z from "zod";

const record = z.object({
  messageId: z.string(),
  body: z.string(),
  attributes: z
    .object({
      ApproximateReceiveCount: z.coerce.number().int().min(1).catch(1),
      SentTimestamp: z.coerce.number().int().min(0).optional().catch(undefined),
    })
    .catch({ ApproximateReceiveCount: 1 }),
});

const event = z.object({ Records: z.array(record) });

export type BatchRecord = {
  readonly id: string;
  readonly body: string;
  /** The number of deliveries of the message, this one included. */
  readonly received: number;
  /** The time at which the queue took the message, epoch ms; undefined where the queue does not say it. */
  readonly sentAt: number | undefined;
};
export type BatchAnswer = { readonly batchItemFailures: readonly { readonly itemIdentifier: string }[] };

/** Returns the records of an SQS event; throws for any other event, so that the whole batch is delivered again. */
export const recordsOf = (given: unknown): readonly BatchRecord[] => {
  const parsed = event.safeParse(given);
  if (!parsed.success)
    throw new Error("this function takes batches of an SQS queue, and was called with something else");
  return parsed.data.Records.map(({ messageId, body, attributes }) => ({
    id: messageId,
    body,
    received: attributes.ApproximateReceiveCount,
    sentAt: attributes.SentTimestamp,
  }));
};

/** Returns the answer that has only these messages delivered again. */
export const answerOf = (failed: readonly string[]): BatchAnswer => ({
  batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })),
});

/** Time of an invocation without a context, ms: that of a usual function, because Lambda's own default is too short. */
const usualMs = 30_000;

const hasRemaining = (context: unknown): context is { getRemainingTimeInMillis(): unknown } =>
  typeof context === "object" &&
  context !== null &&
  "getRemainingTimeInMillis" in context &&
  typeof context.getRemainingTimeInMillis === "function";

/** Returns the milliseconds until Lambda stops the invocation. */
export const remainingMsOf = (context: unknown): number => {
  const left = hasRemaining(context) ? context.getRemainingTimeInMillis() : usualMs;
  return typeof left === "number" && Number.isFinite(left) ? left : usualMs;
};

const scheduled = z.object({ id: z.string().min(1).max(200) });

/** Returns the id of a scheduled run, which Lambda's own retry of it shares; undefined if the event has none. */
export const runOf = (event: unknown): string | undefined => scheduled.safeParse(event).data?.id;
