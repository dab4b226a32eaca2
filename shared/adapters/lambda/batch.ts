/** The shapes in which Lambda hands over a queue's batch and takes the answer. */
import * as z from "zod";

const event = z.object({
  Records: z.array(z.object({ messageId: z.string(), body: z.string() })),
});

export type BatchRecord = { readonly messageId: string; readonly body: string };
export type BatchAnswer = { readonly batchItemFailures: readonly { readonly itemIdentifier: string }[] };

/** The records of an SQS event; throws for anything else, so that the whole batch is delivered again. */
export const recordsOf = (given: unknown): readonly BatchRecord[] => event.parse(given).Records;

/** Only these are delivered again. */
export const answerOf = (failed: readonly string[]): BatchAnswer => ({
  batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })),
});
