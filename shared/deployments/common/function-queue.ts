/**
 * The queue to which a function sends: SQS where the settings name its queues, else the dispatcher that calls the
 * function, which gets the messages in the answer.
 */
import { type Carrier, openCarrier } from "../../adapters/dispatch/carrier.ts";
import type { Trail } from "../../adapters/telemetry/trail.ts";
import { queueOn } from "./sqs-sender.ts";

type Urls = {
  readonly fifoUrl: string | undefined;
  readonly delayUrl: string | undefined;
  readonly updatesUrl: string | undefined;
};

export type FunctionQueue = Carrier & {
  /** True: a dispatcher calls the function, and there is no queue to poll. */
  readonly called: boolean;
};

const nothing = async <T>(work: () => Promise<T>) => ({ value: await work(), carried: [] });

/** Opens the queue. Throws where only a part of the queues' URLs is set. */
export const openFunctionQueue = ({ fifoUrl, delayUrl, updatesUrl }: Urls, trail: Trail): FunctionQueue => {
  if (fifoUrl !== undefined && delayUrl !== undefined)
    return { queue: queueOn({ fifoUrl, delayUrl, updatesUrl }, trail), during: nothing, called: false };
  if (fifoUrl !== undefined || delayUrl !== undefined || updatesUrl !== undefined)
    throw new Error("set both REKINDLE_FIFO_URL and REKINDLE_DELAY_URL, or no queue for calls of a dispatcher");
  const carrier = openCarrier();
  return { queue: trail.queue(carrier.queue), during: carrier.during, called: true };
};
