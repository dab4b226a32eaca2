/** Watches → queue, for a window of time that goes on where the last one ended. Run by itself, it has no end. */
import { type Forward, openForward } from "../shared/wiring/forwarding.ts";
import { once } from "../shared/wiring/once.ts";

const wiring = once(() => openForward(process.env));

/** The Lambda handler of a schedule. Two at once are harmless. */
export const handler: Forward = async (event, context) => (await wiring())(event, context);

if (import.meta.main) {
  const { forwardUntil } = await import("../shared/wiring/forwarding.ts");
  const { stopped } = await import("../shared/wiring/stopping.ts");
  const { tellHealth } = await import("../shared/wiring/health.ts");
  await Promise.all([tellHealth(process.env), forwardUntil(process.env, stopped())]);
}
