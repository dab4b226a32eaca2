/** The wake function as a process. */

import { startPoller } from "../../adapters/poller.ts";
import { openReceiver } from "../../adapters/sqs/receiver.ts";
import { openLines } from "../../adapters/telemetry/tracing.ts";
import { againMs, graceMs, pause, visibilityMs } from "../common/queue-poll.ts";
import { sendingTo } from "../common/queues.ts";
import { stopped } from "../http/server.ts";
import { type Environment, settingsFor } from "../settings/read.ts";
import { wake } from "./function.ts";

/** Moves due timers from the delay queue to the FIFO queue. */
export const pollTimers = async (env: Environment): Promise<void> => {
  const settings = settingsFor("wake", env);
  const { delayUrl } = settings;
  if (delayUrl === undefined) throw new Error("set the function's environment: REKINDLE_DELAY_URL (is missing)");
  const telemetry = openLines(settings);
  const { report } = telemetry;
  const send = sendingTo(settings, telemetry);
  const receiver = openReceiver({ queue: delayUrl, visibilityMs });
  const take = (messages: Parameters<typeof wake>[2]): Promise<readonly string[]> => wake(send, report, messages);
  const poller = startPoller({ receiver, take, parallel: 1, againMs, report, pause });
  report("info", "wake: polling", { queue: delayUrl });
  await stopped();
  await poller.stop(graceMs);
};
