/** The wiring of the reconcile function: flat cluster record, SQS to send with, JSON lines to report with. */

import { httpsTransport } from "../adapters/kubernetes/https.ts";
import { answerOf, type BatchAnswer, recordsOf } from "../adapters/lambda/batch.ts";
import { remainingMsOf } from "../adapters/lambda/invocation.ts";
import { sqsQueue } from "../adapters/sqs/queue.ts";
import { lineReport } from "../adapters/telemetry/lines.ts";
import { type Delivered, intake } from "../engine/intake.ts";
import { timing } from "../engine/settings.ts";
import type { World } from "../engine/world.ts";
import { chargeOf } from "./charge.ts";
import { type Environment, functionSettings } from "./function.ts";
import { openWorld, operatorsFor } from "./world.ts";

/** Takes a batch and says which of its messages are to be delivered again. */
export type Reconcile = (event: unknown, context?: unknown) => Promise<BatchAnswer>;

/** What a step may still need when its time to begin anything new is over: answers under way, its status, its sends. */
const reserveMs = 10_000;
const shortestMs = 5_000;

/** A step leaves before the environment is stopped. */
const withDeadline = (world: World, remainingMs: number): World => {
  const left = remainingMs - reserveMs;
  if (left < shortestMs)
    world.report("warn", "too little time is left for a step: set a timeout of 30 s", { remainingMs });
  return { ...world, timing: { ...world.timing, stepMs: Math.min(world.timing.stepMs, Math.max(0, left)) } };
};

/** The world of this function's steps, and the queue that they are delivered by. */
export const openSteps = async (env: Environment): Promise<{ readonly world: World; readonly fifo: string }> => {
  const settings = functionSettings(env, "endpoint", "cluster", "namespaces", "selector", "fifo", "delay");
  const transport = httpsTransport({ ...settings.endpoint, userAgent: "rekindle-reconcile" });
  const parts = { transport, queue: sqsQueue(settings), report: lineReport("info"), timing };
  const world = await openWorld({ ...parts, operators: operatorsFor(timing) });
  return { world: { ...world, inCharge: chargeOf(settings) }, fifo: settings.fifo };
};

/** Opens everything once for an environment's life. */
export const openReconcile = async (env: Environment): Promise<Reconcile> => {
  const { world } = await openSteps(env);
  return async (event, context) => {
    const delivered: readonly Delivered[] = recordsOf(event);
    return answerOf(await intake(withDeadline(world, remainingMsOf(context)), delivered));
  };
};
