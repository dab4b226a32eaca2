/** Queue batch → steps: one per key, and only the messages of failed keys come back. Run by itself, it polls the queue. */
import { once } from "../shared/deployments/common/once.ts";
import { openReconcile, type Reconcile } from "../shared/deployments/reconcile/function.ts";

const wiring = once(() => openReconcile(process.env));

/** The Lambda handler of an SQS event source with partial batch responses. */
export const handler: Reconcile = async (event, context) => (await wiring())(event, context);

if (import.meta.main) {
  const { pollSteps } = await import("../shared/deployments/reconcile/process.ts");
  const { settingsFor } = await import("../shared/deployments/settings/read.ts");
  const { tellHealth } = await import("../shared/deployments/common/health.ts");
  await Promise.all([tellHealth(settingsFor("reconcile", process.env)), pollSteps(process.env)]);
}
