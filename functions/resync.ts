/** Schedule → one sweep: sends whatever is due, drifted, unfinished or orphaned. Run by itself, it sweeps every five minutes. */
import { once } from "../shared/wiring/once.ts";
import { openResync, type Resync } from "../shared/wiring/sweep.ts";

const wiring = once(() => openResync(process.env));

/** The Lambda handler of a schedule. */
export const handler: Resync = async (event, context) => (await wiring())(event, context);

if (import.meta.main) {
  const { sweepUntil } = await import("../shared/wiring/sweep.ts");
  const { stopped } = await import("../shared/wiring/stopping.ts");
  const { tellHealth } = await import("../shared/wiring/health.ts");
  await Promise.all([tellHealth(process.env), sweepUntil(process.env, stopped())]);
}
