/** The deliver function as a process: it polls its queue until it is stopped. */
import { startPoller } from "../../adapters/sqs/poller.ts";
import { openReceiver } from "../../adapters/sqs/receiver.ts";
import { stopped } from "../common/shutdown.ts";
import type { Environment } from "../settings/read.ts";
import { againMs, batchesFor, graceMs, pause, visibilityMs } from "../wake/process.ts";
import { openDelivering } from "./function.ts";

/** Polls deliveries of status updates from their own FIFO queue. */
export const pollDeliveries = async (env: Environment): Promise<void> => {
  const { take, queue, concurrency, report } = openDelivering(env);
  const { parallel, most } = batchesFor(concurrency);
  const receiver = openReceiver({ queue, visibilityMs, most });
  const poller = startPoller({ receiver, take, parallel, againMs, report, pause });
  report("info", "deliver: polling", { queue });
  await stopped();
  await poller.stop(graceMs);
};
