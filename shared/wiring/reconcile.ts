/** The wiring of the reconcile function: flat cluster record, SQS to send with, JSON lines to report with. */

import { httpsTransport } from "../adapters/kubernetes/https.ts";
import { answerOf, type BatchAnswer, recordsOf } from "../adapters/lambda/batch.ts";
import { sqsQueue } from "../adapters/sqs/queue.ts";
import { lineReport } from "../adapters/telemetry/lines.ts";
import { type Envelope, takeBatch } from "../engine/batch.ts";
import { readMessage } from "../engine/message.ts";
import { functionSettings } from "./function.ts";
import { openWorld, operatorsFor } from "./world.ts";

/** Takes a batch and says which of its messages are to be delivered again. */
export type Reconcile = (event: unknown) => Promise<BatchAnswer>;

/** Opens everything once for an environment's life. */
export const openReconcile = async (env: Readonly<Record<string, string | undefined>>): Promise<Reconcile> => {
  const { endpoint, queues, timing } = functionSettings(env);
  const report = lineReport("info");
  const parts = { transport: httpsTransport(endpoint), queue: sqsQueue(queues), report, timing };
  const world = await openWorld({ ...parts, operators: operatorsFor(timing) });
  return async (event) => {
    const read = recordsOf(event).map(({ messageId, body }) => ({ id: messageId, message: readMessage(body) }));
    const poison = read.filter(({ message }) => message === undefined);
    for (const { id } of poison) report("error", "not a message of ours, dropped", { id });
    const batch = read.flatMap(({ id, message }): Envelope[] => (message === undefined ? [] : [{ id, message }]));
    return answerOf(await takeBatch(world, batch));
  };
};
