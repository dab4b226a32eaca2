/** A container over its restarts: the restart policy and the backoff. */

import { runOnce } from "./container.ts";
import { backoff, type Life } from "./context.ts";
import type { Terminated } from "./objects.ts";
import { pauseFor, Stopped } from "./stopper.ts";

const restarts = ({ context, tracked }: Life, exitCode: number): boolean => {
  const policy = context.pod().spec.restartPolicy ?? "Always";
  if (tracked.role === "sidecar") return true;
  if (tracked.role === "init") return exitCode !== 0 && policy !== "Never";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
};

const crashed = (life: Life, waitMs: number): void => {
  const { context, tracked } = life;
  const { name } = tracked.spec;
  const pod = context.pod();
  const whose = `${name} pod=${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
  context.node.tell(pod, "Warning", "BackOff", `Back-off restarting failed container ${whose}`, name);
  const message = `back-off ${Math.round(waitMs / 1000)}s restarting failed container=${whose}`;
  tracked.state = { waiting: { reason: "CrashLoopBackOff", message } };
  context.report();
};

/** An end after such a long run does not count for the crash loop. */
const soundMs = 600_000;

/**
 * Resolves with the last end when the container is not to be restarted. Throws Stopped if it was stopped before it
 * started.
 */
export const keepRunning = async (life: Life): Promise<Terminated> => {
  const { tracked, stopping, context } = life;
  for (let tries = tracked.restarts; ; tries++) {
    const began = performance.now();
    const end = await runOnce(life);
    if (stopping.signal.aborted || !restarts(life, end.exitCode)) return end;
    if (performance.now() - began > soundMs) tries = 0;
    tracked.last = end;
    // The first restart has no delay.
    const waitMs = tries === 0 ? 0 : backoff(tries, context.node.settings);
    if (waitMs > 0) crashed(life, waitMs);
    try {
      await pauseFor(waitMs, stopping.signal);
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      tracked.state = { terminated: end };
      return end;
    }
    tracked.restarts += 1;
  }
};
