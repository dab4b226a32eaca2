/** The wiring of the wake function: a due timer's message goes to the FIFO queue under its own deduplication id. */
import * as z from "zod";
import { answerOf, type BatchAnswer, recordsOf } from "../../adapters/lambda.ts";
import { openLines } from "../../adapters/telemetry/tracing.ts";
import { isNewer, readMessage } from "../../engine/message.ts";
import type { Queue, Report } from "../../engine/ports.ts";
import type { Delivered } from "../../engine/reconcile/intake.ts";
import { sendingTo } from "../common/queues.ts";
import { type Environment, settingsFor } from "../settings/read.ts";

export type Wake = (event: unknown, context?: unknown) => Promise<BatchAnswer>;

const envelope = z.object({ message: z.unknown(), id: z.string().min(1).max(128) });

const delayedIn = (body: string): Parameters<Queue["send"]> | "newer" | undefined => {
  try {
    const { message, id } = envelope.parse(JSON.parse(body));
    const text = JSON.stringify(message);
    if (isNewer(text)) return "newer";
    const read = readMessage(text);
    return read === undefined ? undefined : [read, id];
  } catch {
    return undefined;
  }
};

/**
 * Returns the ids of the deliveries that must come again. The FIFO queue drops a second copy of a timer by the
 * deduplication id that both share.
 */
export const wake = async (
  send: Queue["send"],
  report: Report,
  delivered: readonly Delivered[],
): Promise<readonly string[]> => {
  const failed = await Promise.all(
    delivered.map(async ({ id, body }) => {
      const delayed = delayedIn(body);
      if (delayed === undefined) {
        report("error", "dropped a timer that is not Rekindle's", { id, characters: body.length });
        return [];
      }
      if (delayed === "newer") {
        report("warn", "left a timer for the newer Rekindle that sent it", { id });
        return [id];
      }
      try {
        await send(...delayed);
        return [];
      } catch (cause) {
        report("warn", "cannot send a due timer on; it is delivered again", { id, error: String(cause) });
        return [id];
      }
    }),
  );
  return failed.flat();
};

export const openWake = async (env: Environment): Promise<Wake> => {
  const settings = settingsFor("wake", env);
  const telemetry = openLines(settings);
  const { report } = telemetry;
  const send = sendingTo(settings, telemetry);
  return async (event) => answerOf(await wake(send, report, recordsOf(event)));
};
