/** The wake function as a process, and how all of them poll that do so by themselves. */
import { setTimeout as sleep } from "node:timers/promises";
import { startPoller } from "../../adapters/sqs/poller.ts";
import { openReceiver } from "../../adapters/sqs/receiver.ts";
import { openLines } from "../common/function-log.ts";
import { stopped } from "../common/shutdown.ts";
import { sendingTo } from "../common/sqs-sender.ts";
import { type Environment, functionSettings } from "../settings/function.ts";
import { wake } from "./function.ts";

/** As `infra/` sets it for the queues of the functions. */
export const visibilityMs = 90_000;
export const againMs = 5_000;
export const graceMs = 25_000;
export const pause = async (ms: number): Promise<void> => void (await sleep(ms));

/** Timers from the delay queue onto the FIFO queue. */
export const pollTimers = async (env: Environment): Promise<void> => {
  const { delay, ...queues } = functionSettings(env, "fifo", "delay", "updates");
  const trail = openLines();
  const { report } = trail;
  const send = sendingTo(queues, trail);
  const receiver = openReceiver({ queue: delay, visibilityMs });
  const take = (messages: Parameters<typeof wake>[2]): Promise<readonly string[]> => wake(send, report, messages);
  const poller = startPoller({ receiver, take, parallel: 1, againMs, report, pause });
  report("info", "wake: polling", { queue: delay });
  await stopped();
  await poller.stop(graceMs);
};
