/**
 * The queue to which a function sends: NATS or SQS where the settings name it, else the dispatcher that calls the
 * function, which gets the messages in the answer.
 */
import { type Carrier, openCarrier } from "../../adapters/dispatch/carrier.ts";
import type { Telemetry } from "../../adapters/telemetry/tracing.ts";
import type { Settings } from "../settings/read.ts";
import { type LazyNats, natsFor } from "./nats.ts";
import { queueOn } from "./sender.ts";

type Queues = Pick<
  Settings<"reconcile">,
  "fifoUrl" | "delayUrl" | "updatesUrl" | "natsUrl" | "natsCredentials" | "natsCaFile" | "natsPrefix"
>;

export type FunctionQueue = Carrier & {
  /** True: a dispatcher calls the function, and there is no queue to poll. */
  readonly called: boolean;
  /** The queues of NATS; absent: the function has none there. */
  readonly nats: LazyNats | undefined;
};

/** The refusal of a platform that invokes a function whose queue is on NATS. */
export const pollsNats = "unset REKINDLE_NATS_URL: only a process polls NATS, and a function that is invoked does not";

const nothing = async <T>(work: () => Promise<T>) => ({ value: await work(), carried: [] });

/** Opens the queue. Throws where only a part of the queues' URLs is set. */
export const openFunctionQueue = (settings: Queues, telemetry: Telemetry): FunctionQueue => {
  const { fifoUrl, delayUrl, updatesUrl } = settings;
  const nats = natsFor(settings, telemetry.report);
  if (nats !== undefined) return { queue: telemetry.queue(nats.queue), during: nothing, called: false, nats };
  if (fifoUrl !== undefined && delayUrl !== undefined)
    return { queue: queueOn({ fifoUrl, delayUrl, updatesUrl }, telemetry), during: nothing, called: false, nats };
  if (fifoUrl !== undefined || delayUrl !== undefined || updatesUrl !== undefined)
    throw new Error("set both REKINDLE_FIFO_URL and REKINDLE_DELAY_URL, or no queue for calls of a dispatcher");
  const carrier = openCarrier();
  return { queue: telemetry.queue(carrier.queue), during: carrier.during, called: true, nats };
};
