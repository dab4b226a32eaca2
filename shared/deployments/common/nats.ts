/** Queues on NATS for the settings that name its servers. The adapter is loaded with the first use. */
import type { NatsQueues } from "../../adapters/nats/queues.ts";
import type { Receiver } from "../../adapters/sqs/receiver.ts";
import type { Queue, Report } from "../../engine/ports.ts";
import type { Settings } from "../settings/read.ts";
import { once } from "./once.ts";
import { openOptional } from "./secret.ts";
import { apart } from "./separate-queues.ts";

type OfNats = Pick<Settings<"reconcile">, "natsUrl" | "natsCredentials" | "natsCaFile" | "natsPrefix">;

export type LazyNats = {
  /** Sends keys of steps to one queue and deliveries to the other. */
  readonly queue: Queue;
  readonly steps: (most: number) => Promise<Receiver>;
  readonly deliveries: (most: number) => Promise<Receiver>;
  /** Messages and timers in the queue of steps. */
  readonly depth: () => Promise<{ readonly ready: number; readonly delayed: number }>;
  /** Closes the connection, which keeps a process alive. */
  readonly close: () => Promise<void>;
};

/** Returns a queue that is opened by the first message. */
export const openedByUse = (open: () => Promise<Queue>): Queue => ({
  send: async (...sent) => await (await open()).send(...sent),
  sendLater: async (...sent) => await (await open()).sendLater(...sent),
});

/** Returns the queues; undefined where no servers are set. */
export const natsFor = (
  { natsUrl, natsCredentials, natsCaFile: caFile, natsPrefix: prefix }: OfNats,
  report: Report,
): LazyNats | undefined => {
  if (natsUrl === undefined) return undefined;
  const credentials = openOptional(natsCredentials, { report, setting: "natsCredentials" });
  const address = { servers: natsUrl, name: "rekindle", caFile, credentials };
  let isOpen = false;
  const queues = once(async (): Promise<NatsQueues> => {
    isOpen = true;
    const { openNatsQueues } = await import("../../adapters/nats/queues.ts");
    return openNatsQueues({ address, prefix, report });
  });
  return {
    queue: apart(
      openedByUse(async () => (await queues()).steps.queue),
      openedByUse(async () => (await queues()).deliveries.queue),
    ),
    steps: async (most) => (await queues()).steps.receiver(most),
    deliveries: async (most) => (await queues()).deliveries.receiver(most),
    depth: async () => await (await queues()).steps.depth(),
    close: async () => {
      if (isOpen) await (await queues()).close();
    },
  };
};
