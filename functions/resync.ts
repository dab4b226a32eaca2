/**
 * Schedule → one resync: sends each key that is due, drifted, unfinished or orphaned. Run by itself, it resyncs at an
 * interval.
 */
import { once } from "../shared/deployments/common/once.ts";
import { openResync, type Resync } from "../shared/deployments/resync/function.ts";

const wiring = once(() => openResync(process.env));

/** The Lambda handler of a schedule. */
export const handler: Resync = async (event, context) => (await wiring())(event, context);

if (import.meta.main) {
  const { sweepUntil } = await import("../shared/deployments/resync/function.ts");
  const { stopped } = await import("../shared/deployments/http/server.ts");
  const { settingsFor } = await import("../shared/deployments/settings/read.ts");
  const { tellHealth } = await import("../shared/deployments/http/server.ts");
  await Promise.all([tellHealth(settingsFor("resync", process.env)), sweepUntil(process.env, stopped())]);
}
