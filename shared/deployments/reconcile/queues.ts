/** The operator of Queues of a function, loaded with the first message for one. */
import type { Operator } from "../../core/operator.ts";
import { type QueueOptions, volcanoQueue } from "../../volcano/queue/decide.ts";

/** Opens the operator; the part that evicts pods is loaded only where groups start by plans and the deployment evicts. */
export const queuesFor = async (options: QueueOptions = {}): Promise<Operator<unknown>> => {
  const { gang, gangEvict = "none" } = options;
  if (gang !== "builtin" || gangEvict === "none") return volcanoQueue(options);
  const { evictingIn } = await import("../../volcano/gang/eviction/round.ts");
  return volcanoQueue({ ...options, evicting: evictingIn(gangEvict) });
};
