/** The reconcile function as a process: it polls its queue, or serves a dispatcher's calls, until it is stopped. */
import { startPoller } from "../../adapters/poller.ts";
import { againMs, batchesFor, graceMs, pause, receiverOf } from "../common/queue-poll.ts";
import { stopped, tellHealth } from "../http/server.ts";
import { type Environment, settingsFor } from "../settings/read.ts";
import { openTaking } from "./function.ts";

/** The remaining time that a process reports, ms: more than a step takes by default. */
const unhurriedMs = 60_000;

/** Polls steps from NATS or the FIFO queue; without one, serves calls. */
export const takeSteps = async (env: Environment): Promise<void> => {
  const { take: takeAll, during, fifoUrl: queue, nats, concurrency, report } = openTaking(env);
  const settings = settingsFor("reconcile", env);
  if (queue === undefined && nats === undefined) {
    const { serveCalls } = await import("../http/dispatch-calls.ts");
    await serveCalls({ settings, take: takeAll, during, report }, stopped());
    return;
  }
  const health = tellHealth(settings);
  const { parallel, most } = batchesFor(concurrency);
  const receiver = await receiverOf({ queue, nats: nats?.steps, most });
  const take = (messages: Parameters<typeof takeAll>[0]): Promise<readonly string[]> => takeAll(messages, unhurriedMs);
  const poller = startPoller({ receiver, take, parallel, againMs, report, pause });
  report("info", "reconcile: polling", { queue: queue ?? "NATS" });
  await stopped();
  await poller.stop(graceMs);
  await nats?.close();
  await health;
};
