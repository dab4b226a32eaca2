/** The deliver function as a process: it polls its queue, or serves a dispatcher's calls, until it is stopped. */
import { startPoller } from "../../adapters/poller.ts";
import { againMs, batchesFor, graceMs, pause, receiverOf } from "../common/queue-poll.ts";
import { stopped, tellHealth } from "../http/server.ts";
import { type Environment, settingsFor } from "../settings/read.ts";
import { openDelivering } from "./function.ts";

/** Polls deliveries of status updates from their own queue; without one, serves calls. */
export const takeDeliveries = async (env: Environment): Promise<void> => {
  const { take, during, queue, nats, concurrency, report } = openDelivering(env);
  const settings = settingsFor("deliver", env);
  if (queue === undefined && nats === undefined) {
    const { serveCalls } = await import("../http/dispatch-calls.ts");
    await serveCalls({ settings, take, during, report }, stopped());
    return;
  }
  const health = tellHealth(settings);
  const { parallel, most } = batchesFor(concurrency);
  const receiver = await receiverOf({ queue, nats: nats?.deliveries, most });
  const poller = startPoller({ receiver, take, parallel, againMs, report, pause });
  report("info", "deliver: polling", { queue: queue ?? "NATS" });
  await stopped();
  await poller.stop(graceMs);
  await nats?.close();
  await health;
};
