/** Kills a host repeatedly while other work goes on. */
import { setTimeout as sleep } from "node:timers/promises";
import { startHost } from "./installed.ts";
import type { Scene } from "./scene.ts";

/**
 * Kills the host at random moments and starts another at once, until `stop`. A host runs for up to `mostMs`: some are
 * killed before the first watch is open, some in the middle of a step.
 */
export const killing = (scene: Scene, args: readonly string[] = [], mostMs = 5_000) => {
  let kills = 0;
  let stopped = false;
  let host = startHost(scene.kubeconfig, scene.hostLog, args);
  let turns: Promise<unknown> = Promise.resolve();
  /** Runs one piece of work at a time: a kill, or a time without a host. */
  const turn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turns.then(work);
    turns = next.catch(() => {});
    return next;
  };
  const without = async <T>(work: () => Promise<T>): Promise<T> => {
    if (host.exited()) throw new Error("the host ended of itself");
    await host.kill();
    kills += 1;
    try {
      return await work();
    } finally {
      host = startHost(scene.kubeconfig, scene.hostLog, args);
    }
  };
  const loop = (async () => {
    while (!stopped) {
      await sleep(scene.random() * mostMs);
      if (stopped) break;
      await turn(() => without(async () => {}));
    }
  })();
  // Never resolves; rejects when the host ended before it was killed.
  const broken = loop.then(() => new Promise<never>(() => {}));
  broken.catch(() => {});
  return {
    kills: () => kills,
    /** Resolves as `work` does; rejects if the host exits without being killed. */
    during: <T>(work: Promise<T>): Promise<T> => Promise.race([work, broken]),
    /** Kills the host, and starts another when the work is done. */
    without: <T>(work: () => Promise<T>): Promise<T> => turn(() => without(work)),
    stop: async () => {
      stopped = true;
      await turns;
      await host.stop();
      await loop.catch(() => {});
    },
  };
};
