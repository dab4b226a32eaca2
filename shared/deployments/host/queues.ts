/**
 * The host's queues and their workers. Steps and deliveries have separate ones, so that no step waits behind a listener
 * that does not answer.
 */
import { type EmbeddedQueue, openQueue } from "../../adapters/embedded/queue.ts";
import { startWorkers, type Workers, wholly } from "../../adapters/embedded/workers.ts";
import type { Message } from "../../core/key.ts";
import type { Queue } from "../../engine/ports.ts";
import { apart } from "../common/separate-queues.ts";

/** Returns the number of keys that the queue takes from a namespace in one turn. */
export type WeightOf = (namespace: string) => number;

/** Deliveries at once; each takes two seconds at most. */
const deliveriesAtOnce = 8;

/** The wait before a failed step or delivery is taken again, ms. */
const againMs = 1_000;

export type HostQueues = {
  /** Takes steps and deliveries. */
  readonly queue: Queue;
  readonly depth: EmbeddedQueue["depth"];
  /** Starts the workers. `parallel`: steps at once. */
  start(take: (messages: readonly Message[]) => Promise<boolean>, parallel: number): Workers;
};

/** Monotonic, ms: a wall clock that is set back would keep keys locked, and timers waiting, for that time. */
const now = (): number => performance.now();

/** Opens the queues. `timed` wraps the queue of steps for its senders. */
export const openHostQueues = (
  visibilityMs: number,
  timed: (queue: Queue) => Queue,
  weightOf?: WeightOf,
): HostQueues => {
  const steps = openQueue({ now, visibilityMs, weightOf });
  const deliveries = openQueue({ now, visibilityMs, weightOf });
  return {
    queue: apart(timed(steps), deliveries),
    depth: steps.depth,
    start: (take, parallel) => {
      const common = { take: wholly(take, againMs), againMs, now };
      const workers = startWorkers({ ...common, queue: steps, parallel });
      const postmen = startWorkers({ ...common, queue: deliveries, parallel: deliveriesAtOnce });
      return {
        busy: workers.busy,
        stop: async (graceMs) => void (await Promise.all([workers.stop(graceMs), postmen.stop(graceMs)])),
      };
    },
  };
};
