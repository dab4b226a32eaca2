/** Queue batch → status updates: at most one POST per key, and only the messages of failed keys come back. Run by itself, it polls the queue. */
import { type Deliver, openDeliver } from "../shared/wiring/delivering.ts";
import { once } from "../shared/wiring/once.ts";

const wiring = once(() => openDeliver(process.env));

/** The Lambda handler of an SQS event source with partial batch responses. */
export const handler: Deliver = async (event) => (await wiring())(event);

if (import.meta.main) {
  const { pollDeliveries } = await import("../shared/wiring/postman.ts");
  const { tellHealth } = await import("../shared/wiring/health.ts");
  await Promise.all([tellHealth(process.env), pollDeliveries(process.env)]);
}
