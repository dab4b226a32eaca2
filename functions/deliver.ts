/**
 * Queue batch → status updates: at most one delivery per key, and only the messages of failed keys come back. Run by
 * itself, it polls the queue, or serves the calls of a dispatcher.
 */

import { once } from "../shared/deployments/common/once.ts";
import { type Deliver, openDeliver } from "../shared/deployments/deliver/function.ts";

const wiring = once(() => openDeliver(process.env));

/** The Lambda handler of an SQS event source with partial batch responses, or of a function URL. */
export const handler: Deliver = async (event, context) => (await wiring())(event, context);

if (import.meta.main) {
  const { takeDeliveries } = await import("../shared/deployments/deliver/process.ts");
  await takeDeliveries(process.env);
}
