/** The reconcile function as a process: it polls its queue until it is told to stop. */
import { startPoller } from "../../adapters/sqs/poller.ts";
import { openReceiver } from "../../adapters/sqs/receiver.ts";
import { stopped } from "../common/shutdown.ts";
import type { Environment } from "../settings/function.ts";
import { againMs, graceMs, pause, visibilityMs } from "../wake/process.ts";
import { openTaking } from "./function.ts";

/** A process has all the time that a step may take. */
const unhurriedMs = 60_000;

/** Steps from the FIFO queue. */
export const pollSteps = async (env: Environment): Promise<void> => {
  const { take: takeAll, fifo, report } = openTaking(env);
  const receiver = openReceiver({ queue: fifo, visibilityMs });
  const take = (messages: Parameters<typeof takeAll>[0]): Promise<readonly string[]> => takeAll(messages, unhurriedMs);
  const poller = startPoller({ receiver, take, parallel: 4, againMs, report, pause });
  report("info", "reconcile: polling", { queue: fifo });
  await stopped();
  await poller.stop(graceMs);
};
