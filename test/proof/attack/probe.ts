/**
 * The liveness probe, on a thread of its own: calls /healthz repeatedly and measures each answer, less the time for
 * which the kernel made the host or this thread wait for a processor. A busy machine is no silent host.
 */
import { readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import * as z from "zod";

const shape = z.object({ url: z.string(), pid: z.number() });
type Target = z.infer<typeof shape>;

const beat = z.object({ began: z.number(), ms: z.number().optional() });

const everyMs = 50;
const longestMs = 120_000;

/** Returns the time that a thread was ready to run and did not run, ms (schedstat has it in ns). */
const waited = (path: string): number => {
  try {
    return Number(readFileSync(path, "utf8").split(" ")[1] ?? 0) / 1e6;
  } catch {
    return 0;
  }
};

const asked = (url: string, agent: Agent): Promise<void> =>
  new Promise((resolve) => {
    const request = get(url, { agent, timeout: longestMs }, (answer) => {
      answer.resume();
      answer.once("close", resolve);
    });
    request.once("error", () => resolve());
    request.once("timeout", () => request.destroy());
  });

const probing = async ({ url, pid }: Target): Promise<never> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const readyMs = (): number => waited(`/proc/${pid}/task/${pid}/schedstat`) + waited("/proc/thread-self/schedstat");
  for (;;) {
    const began = Date.now();
    parentPort?.postMessage({ began });
    const [start, ready] = [performance.now(), readyMs()];
    await asked(url, agent);
    parentPort?.postMessage({ began, ms: Math.max(0, performance.now() - start - (readyMs() - ready)) });
    await sleep(everyMs);
  }
};

export type Probe = {
  /**
   * The longest time without an answer since an instant (epoch ms), ms; an unanswered call of more than 10 s counts.
   */
  readonly longestSince: (epochMs: number) => number;
  readonly stop: () => Promise<unknown>;
};

/** Starts to poll the host at `url`, the address of its HTTP endpoint. */
export const startProbe = (url: string, pid: number): Probe => {
  const worker = new Worker(new URL(import.meta.url), { workerData: { url: `${url}/healthz`, pid } });
  const beats: { began: number; ms: number }[] = [];
  let open: number | undefined;
  worker.on("message", (message: unknown) => {
    const { began, ms } = beat.parse(message);
    open = ms === undefined ? began : undefined;
    if (ms !== undefined) beats.push({ began, ms });
  });
  return {
    longestSince: (from) => {
      const done = beats.filter(({ began, ms }) => began + ms >= from).map(({ ms }) => ms);
      // An unanswered call counts when its answer comes, or once it is long overdue.
      const going = open !== undefined && Date.now() - open > 10_000 ? Date.now() - open : 0;
      return Math.max(0, going, ...done);
    },
    stop: () => worker.terminate(),
  };
};

if (!isMainThread) await probing(shape.parse(workerData));
