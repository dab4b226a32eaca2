/** The depth of a queue on SQS, and the URL of its dead-letter queue. */
import * as z from "zod";
import type { Sqs } from "./client.ts";

export type Depth = {
  readonly visible: number;
  readonly received: number;
  /** URL of the dead-letter queue. */
  readonly dead: string | undefined;
};

const count = z.coerce.number().int().min(0);

/** The counts are texts; approximate, as SQS says. */
const depthShape = () =>
  z.object({
    ApproximateNumberOfMessages: count,
    ApproximateNumberOfMessagesNotVisible: count,
    RedrivePolicy: z.string().optional(),
  });

const policyShape = () => z.object({ deadLetterTargetArn: z.string() });

/** Returns the URL of the dead-letter queue, which SQS wants in the account and region of its queue. */
const deadUrlOf = (url: string, policy: string): string => {
  const { deadLetterTargetArn } = policyShape().parse(JSON.parse(policy));
  return url.slice(0, url.lastIndexOf("/") + 1) + deadLetterTargetArn.slice(deadLetterTargetArn.lastIndexOf(":") + 1);
};

/** Reads the depth of the queue at this URL. */
export const depthOf = async (sqs: Sqs, url: string): Promise<Depth> => {
  const { Attributes } = await sqs("GetQueueAttributes", url, ({ client, sdk }, limits) =>
    client.send(
      new sdk.GetQueueAttributesCommand({
        QueueUrl: url,
        AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "RedrivePolicy"],
      }),
      limits,
    ),
  );
  const {
    ApproximateNumberOfMessages: visible,
    ApproximateNumberOfMessagesNotVisible: received,
    RedrivePolicy: policy,
  } = depthShape().parse(Attributes);
  return { visible, received, dead: policy === undefined ? undefined : deadUrlOf(url, policy) };
};
