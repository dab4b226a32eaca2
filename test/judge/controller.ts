/** The controller behind its proxy: started with a kubeconfig that leads through it, and struck by faults. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openProcesses, type Processes } from "./processes.ts";
import { openProxy, type ProxyServer, type Strike } from "./proxy.ts";
import type { Subject } from "./subject.ts";
import type { World } from "./world.ts";

export type Controller = {
  readonly proxy: ProxyServer;
  readonly log: string;
  /** True if the process runs, its watches are open, and none is held. */
  readonly isReady: () => boolean;
  readonly stop: () => Promise<void>;
};

/** How long a watch is held, and an old list is served, ms. */
const strikeMs = 10_000;

/** Strikes the process and its watches: each kill at the moment that it names, most else after the answer. */
const strikeOn =
  (world: World, proxy: ProxyServer, processes: Processes): Strike =>
  (fault, moment, port) => {
    const { kind, awayMs } = fault;
    if (kind === `kill-${moment}`) processes.kill(awayMs);
    if (kind === `sender-${moment}`) processes.killSender(port);
    // The event of a write may come before its answer, so watches are held before the write.
    if (kind === "hold" && moment === "before") proxy.hold(strikeMs);
    if (kind === "stale" && moment === "before") proxy.serveStale(world.points.version(), strikeMs);
    if (moment !== "after") return;
    const struck: Readonly<Record<string, () => void>> = {
      stale: () => processes.kill(awayMs),
      cut: proxy.cut,
      gone: proxy.gone,
      two: processes.double,
    };
    struck[kind]?.();
  };

/** Waits until the number of open watches has not changed for two seconds; that many are open when it is ready. */
const steadyWatches = async (proxy: ProxyServer): Promise<number> => {
  const end = performance.now() + 60_000;
  for (let [count, since] = [0, performance.now()]; performance.now() < end; await sleep(100)) {
    if (proxy.openWatches() !== count) [count, since] = [proxy.openWatches(), performance.now()];
    if (count > 0 && performance.now() - since > 2_000) return count;
  }
  throw new Error("the controller opened no watch within a minute");
};

export const startController = async (world: World, subject: Subject): Promise<Controller> => {
  const { namespace, accounts } = await subject.install(world.plane);
  let strike: Strike = () => {};
  const struck: Strike = (fault, moment, port) => strike(fault, moment, port);
  const { server } = world.plane;
  const proxy = await openProxy({ server, pki: world.pki, points: world.points, strike: struck });
  const kubeconfigOf = (account: string): string => join(world.plane.dir, `${subject.name}.${account}.kubeconfig`);
  for (const account of accounts) {
    const config = await readFile(await world.plane.kubeconfigOf(namespace, account), "utf8");
    await writeFile(kubeconfigOf(account), config.replace(server, proxy.url));
  }
  const log = join(world.plane.dir, `${subject.name}.log`);
  const beside = subject.beside?.(world.plane.adminKubeconfig);
  const unstruck = beside === undefined ? undefined : openProcesses(beside, `${log}.beside`, () => {});
  const processes = openProcesses(subject.program(kubeconfigOf), log, (line) => world.points.log("", line));
  strike = strikeOn(world, proxy, processes);
  const forget = world.onPoint(subject.name, (inside, pattern) => {
    const fault = world.points.pass(inside, pattern);
    if (fault === undefined) return;
    strike(fault, "before", 0);
    strike(fault, "after", 0);
  });
  const close = async (): Promise<void> => {
    forget();
    await processes.stop();
    await unstruck?.stop();
    proxy.close();
  };
  const watches = await steadyWatches(proxy).catch(async (cause: unknown) => {
    await close();
    throw new Error(
      `${subject.name} did not start; its log ends with: ${(await readFile(log, "utf8")).slice(-1_500)}`,
      { cause },
    );
  });
  return {
    proxy,
    log,
    isReady: () => processes.isUp() && !proxy.isHeld() && proxy.openWatches() >= watches,
    stop: close,
  };
};
