/** Watches → queue, for a window that begins where the last one ended. Run by itself, it has no end. */

import { once } from "../shared/deployments/common/once.ts";
import { type Forward, openForward } from "../shared/deployments/forward/function.ts";

const wiring = once(() => openForward(process.env));

/** The Lambda handler of a schedule. Two at once are harmless. */
export const handler: Forward = async (event, context) => (await wiring())(event, context);

if (import.meta.main) {
  const { forwardUntil } = await import("../shared/deployments/forward/function.ts");
  const { stopped } = await import("../shared/deployments/http/server.ts");
  const { settingsFor } = await import("../shared/deployments/settings/read.ts");
  const { tellHealth } = await import("../shared/deployments/http/server.ts");
  await Promise.all([tellHealth(settingsFor("forward", process.env)), forwardUntil(process.env, stopped())]);
}
