/**
 * Queue batch → steps: one per key, and only the messages of failed keys come back. Run by itself, it polls the queue,
 * or serves the calls of a dispatcher.
 */
import { once } from "../shared/deployments/common/once.ts";
import { openReconcile, type Reconcile } from "../shared/deployments/reconcile/function.ts";

const wiring = once(() => openReconcile(process.env));

/** The Lambda handler of an SQS event source with partial batch responses, or of a function URL. */
export const handler: Reconcile = async (event, context) => (await wiring())(event, context);

if (import.meta.main) {
  const { takeSteps } = await import("../shared/deployments/reconcile/process.ts");
  await takeSteps(process.env);
}
