/**
 * The interpretation of a function's answer by a queue's event source mapping. With ReportBatchItemFailures an empty
 * answer is success; an answer that does not parse is the failure of the whole batch.
 */
import * as z from "zod";

const answer = z.union([
  z.null(),
  z.looseObject({
    batchItemFailures: z
      .array(z.looseObject({ itemIdentifier: z.string().min(1) }))
      .nullish()
      .transform((failures) => failures ?? []),
  }),
]);

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
};

/**
 * Returns the ids of the processed messages, which may be deleted; the others stay hidden until their visibility
 * timeout.
 */
export const doneOf = (body: string, ids: readonly string[]): readonly string[] => {
  const understood = answer.safeParse(parsed(body));
  if (!understood.success) return [];
  const failed = understood.data?.batchItemFailures.map((failure) => failure.itemIdentifier) ?? [];
  if (failed.some((id) => !ids.includes(id))) return [];
  return ids.filter((id) => !failed.includes(id));
};
