/** The built host under attack: a process with a small heap, its log, its resident size, its liveness probe. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type HostProcess, startHost } from "../../real/e2e/installed.ts";
import { confine, heapOptions } from "./confinement.ts";
import { type Probe, startProbe } from "./probe.ts";

export type HostUnderAttack = HostProcess & {
  /** Address of its HTTP endpoint. */
  readonly url: string;
  readonly probe: Probe;
  readonly log: () => string;
  /** Peak resident size since the start, MiB. */
  readonly resident: () => number;
};

const usualReadyMs = 60_000;

/** Returns the text of a file; "" if it cannot be read. */
export const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
};

/** Polls until `look` finds a value. Throws the end of the log if the host exits or the time is over. */
const awaited = async <T>(
  { host, log, readyMs }: { readonly host: HostProcess; readonly log: () => string; readonly readyMs: number },
  look: () => Promise<T | undefined>,
): Promise<T> => {
  for (const end = performance.now() + readyMs; performance.now() < end && !host.exited(); await sleep(25)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`the host did not become ready: ${log().slice(-2_000)}`);
};

/** `node`: flags of Node beside the heap bound. `readyMs`: the longest time until the host is ready. */
type Opening = { readonly node?: readonly string[]; readonly readyMs?: number; readonly built?: string };

/** Starts a host and waits until it is ready. */
export const openHost = async (
  kubeconfig: string,
  logFile: string,
  args: readonly string[],
  { node = [], readyMs = usualReadyMs, built }: Opening = {},
): Promise<HostUnderAttack> => {
  const host = startHost(kubeconfig, logFile, args, [...heapOptions(), ...node], built);
  const release = confine(host.pid);
  const log = (): string => textOf(logFile);
  const starting = { host, log, readyMs };
  const ready = <T>(look: () => Promise<T | undefined>): Promise<T> =>
    awaited(starting, look).catch(async (cause: unknown) => {
      await host.kill();
      release();
      throw cause;
    });
  const url = await ready(async () => /serving (http:\S+?)\/healthz/.exec(log())?.[1]);
  // The probe begins as soon as the endpoint listens, so it covers the host's first reads.
  const attacked = underAttack({ ...host, url, log }, release);
  await ready(async () => ((await fetch(`${url}/readyz`)).status === 200 ? true : undefined)).catch(async (cause) => {
    await attacked.probe.stop();
    throw cause;
  });
  return attacked;
};

type Attacked = HostProcess & Pick<HostUnderAttack, "url" | "log">;

/** Watches a process that answers at `url`: its probe, its peak of memory. `release` runs when it has ended. */
export const underAttack = (host: Attacked, release: () => void): HostUnderAttack => {
  const probe = startProbe(host.url, host.pid);
  let peak = 0;
  const stopped = async <T>(end: () => Promise<T>): Promise<T> => {
    await probe.stop();
    return await end().finally(release);
  };
  return {
    ...host,
    probe,
    kill: () => stopped(host.kill),
    stop: () => stopped(host.stop),
    resident: () => {
      const found = /VmHWM:\s+(\d+)/.exec(textOf(`/proc/${host.pid}/status`))?.[1];
      peak = Math.max(peak, Number(found ?? 0) / 1_024);
      return peak;
    },
  };
};
