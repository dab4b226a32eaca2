/**
 * Queue batch → status updates: at most one delivery per key, and only the messages of failed keys come back. Run by
 * itself, it polls the queue.
 */

import { once } from "../shared/deployments/common/once.ts";
import { type Deliver, openDeliver } from "../shared/deployments/deliver/function.ts";

const wiring = once(() => openDeliver(process.env));

/** The Lambda handler of an SQS event source with partial batch responses. */
export const handler: Deliver = async (event) => (await wiring())(event);

if (import.meta.main) {
  const { pollDeliveries } = await import("../shared/deployments/deliver/process.ts");
  const { settingsFor } = await import("../shared/deployments/settings/read.ts");
  const { tellHealth } = await import("../shared/deployments/common/health.ts");
  await Promise.all([tellHealth(settingsFor("deliver", process.env)), pollDeliveries(process.env)]);
}
