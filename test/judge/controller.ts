/** The controller's process: started with a kubeconfig that leads through the proxy, killed, kept away, doubled. */
import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "./faults.ts";
import { type Moment, openProxy, type ProxyServer } from "./proxy.ts";
import type { Program, Subject } from "./subject.ts";
import type { World } from "./world.ts";

export type Controller = {
  readonly proxy: ProxyServer;
  readonly log: string;
  /** True if the process runs, its watches are open, and none is held. */
  readonly isReady: () => boolean;
  readonly stop: () => Promise<void>;
};

const gone = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()));

/** How long a second instance runs, a watch is held, and an old list is served, ms. */
const strikeMs = 10_000;

type Running = { first: ChildProcess | undefined; second: ChildProcess | undefined; sinceMs: number };

/** SIGKILL to a program and all that it has started. */
const killGroup = ({ pid }: ChildProcess): void => {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended.
  }
};

const started = ({ command, env = {} }: Program, log: string): ChildProcess => {
  const [program = "", ...args] = command;
  const file = openSync(log, "a");
  return spawn(program, args, {
    // The head of a process group, so that a kill takes the processes that it has started, too.
    detached: true,
    stdio: ["ignore", file, file],
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...env },
  });
};

/** Strikes the process and its watches: each kill at the moment that it names, most else after the answer. */
const strikeOn = (world: World, proxy: ProxyServer, processes: Processes) => (fault: Fault, moment: Moment) => {
  const { kind, awayMs } = fault;
  if (kind === `kill-${moment}`) processes.kill(awayMs);
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

type Processes = {
  readonly kill: (awayMs: number) => void;
  readonly double: () => void;
  readonly isUp: () => boolean;
  readonly stop: () => Promise<void>;
};

const openProcesses = (program: Program, log: string, say: (line: string) => void): Processes => {
  const running: Running = { first: undefined, second: undefined, sinceMs: 0 };
  let isOver = false;
  const start = (): void => {
    if (isOver) return;
    const child = started(program, log);
    running.first = child;
    running.sinceMs = performance.now();
    child.once("exit", (_code, signal) => {
      running.first = undefined;
      killGroup(child);
      // A process that ends by itself is started again, as by a Deployment.
      if (signal !== "SIGKILL") setTimeout(start, 1_000).unref();
    });
  };
  const children = (): readonly ChildProcess[] =>
    [running.first, running.second].filter((child) => child !== undefined);
  const killAll = (): void => {
    for (const child of children()) killGroup(child);
  };
  // A bench that is stopped leaves no controller behind.
  process.once("exit", killAll);
  start();
  return {
    kill: (awayMs) => {
      if (running.first === undefined) return;
      say(`the process is killed, for ${awayMs / 1_000} s`);
      killGroup(running.first);
      setTimeout(start, awayMs);
    },
    double: () => {
      if (running.second !== undefined) return;
      say(`a second instance for ${strikeMs / 1_000} s`);
      const second = started(program, log);
      running.second = second;
      setTimeout(() => {
        killGroup(second);
        running.second = undefined;
      }, strikeMs).unref();
    },
    isUp: () => running.first !== undefined && performance.now() - running.sinceMs > 1_000,
    stop: async () => {
      isOver = true;
      process.off("exit", killAll);
      killAll();
      await Promise.all(children().map(gone));
    },
  };
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
  let strike = (_fault: Fault, _moment: Moment): void => {};
  const struck = (fault: Fault, moment: Moment): void => strike(fault, moment);
  const { server } = world.plane;
  const proxy = await openProxy({ server, pki: world.pki, points: world.points, strike: struck });
  const kubeconfigOf = (account: string): string => join(world.plane.dir, `${subject.name}.${account}.kubeconfig`);
  for (const account of accounts) {
    const config = await readFile(await world.plane.kubeconfigOf(namespace, account), "utf8");
    await writeFile(kubeconfigOf(account), config.replace(server, proxy.url));
  }
  const log = join(world.plane.dir, `${subject.name}.log`);
  const processes = openProcesses(subject.program(kubeconfigOf), log, (line) => world.points.log("", line));
  strike = strikeOn(world, proxy, processes);
  const forget = world.onPoint(subject.name, (inside, pattern) => {
    const fault = world.points.pass(inside, pattern);
    if (fault === undefined) return;
    strike(fault, "before");
    strike(fault, "after");
  });
  const close = async (): Promise<void> => {
    forget();
    await processes.stop();
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
