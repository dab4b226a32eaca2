/** The deliver function as a process: it polls its queue, or serves a dispatcher's calls, until it is stopped. */
import { startPoller } from "../../adapters/sqs/poller.ts";
import { openReceiver } from "../../adapters/sqs/receiver.ts";
import { stopped } from "../common/shutdown.ts";
import { tellHealth } from "../http/health.ts";
import { type Environment, settingsFor } from "../settings/read.ts";
import { againMs, batchesFor, graceMs, pause, visibilityMs } from "../wake/process.ts";
import { openDelivering } from "./function.ts";

/** Polls deliveries of status updates from their own FIFO queue; without one, serves calls. */
export const takeDeliveries = async (env: Environment): Promise<void> => {
  const { take, during, queue, concurrency, report } = openDelivering(env);
  const settings = settingsFor("deliver", env);
  if (queue === undefined) {
    const { serveCalls } = await import("../http/called.ts");
    await serveCalls({ settings, take, during, report }, stopped());
    return;
  }
  const health = tellHealth(settings);
  const { parallel, most } = batchesFor(concurrency);
  const receiver = openReceiver({ queue, visibilityMs, most });
  const poller = startPoller({ receiver, take, parallel, againMs, report, pause });
  report("info", "deliver: polling", { queue });
  await stopped();
  await poller.stop(graceMs);
  await health;
};
