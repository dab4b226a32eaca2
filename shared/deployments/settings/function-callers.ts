/** Settings of functions that depend on their caller: SQS or NATS, or a dispatcher. Documentation only: functions do not bundle it. */
import type { SettingName } from "./table.ts";

/** The caller of functions: a queue (SQS, or a process that polls SQS or NATS), or the dispatcher in its place. */
export type FunctionCaller = "queue" | "dispatcher";

const queueInside = "a dispatcher has the queue inside, and answers carry the messages of steps";

/** Settings of functions that only one caller's deployments set, each with the reason why the other's do not. */
export const settingsOfOneCaller: Readonly<
  Partial<Record<SettingName, { readonly caller: FunctionCaller; readonly reason: string }>>
> = {
  fifoUrl: { caller: "queue", reason: queueInside },
  delayUrl: { caller: "queue", reason: queueInside },
  updatesUrl: { caller: "queue", reason: queueInside },
  natsUrl: { caller: "queue", reason: queueInside },
  natsCredentials: { caller: "queue", reason: queueInside },
  natsCaFile: { caller: "queue", reason: queueInside },
  natsPrefix: { caller: "queue", reason: queueInside },
  windowMs: { caller: "queue", reason: "a dispatcher watches all the time" },
  callUrls: { caller: "dispatcher", reason: "SQS calls the functions that its event sources name" },
  callSecret: { caller: "dispatcher", reason: "the rights of the queue say who sends" },
};
