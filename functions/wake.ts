/** Delay queue batch → FIFO queue: a due timer's key is delivered like any other. Run by itself, it polls the queue. */
import { once } from "../shared/deployments/common/once.ts";
import { openWake, type Wake } from "../shared/deployments/wake/function.ts";

const wiring = once(() => openWake(process.env));

/** The Lambda handler of an SQS event source with partial batch responses. */
export const handler: Wake = async (event, context) => (await wiring())(event, context);

if (import.meta.main) {
  const { pollTimers } = await import("../shared/deployments/wake/process.ts");
  const { settingsFor } = await import("../shared/deployments/settings/read.ts");
  const { tellHealth } = await import("../shared/deployments/http/server.ts");
  await Promise.all([tellHealth(settingsFor("wake", process.env)), pollTimers(process.env)]);
}
