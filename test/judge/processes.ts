/** The controller's processes: started, killed with all that they have started, kept away, doubled. */
import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { processAt } from "./sender.ts";
import { endsWithParent, type Program } from "./subject.ts";

const gone = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", () => resolve()));

/** How long a second instance runs, ms. */
const secondMs = 10_000;

type Running = { first: ChildProcess | undefined; second: ChildProcess | undefined; sinceMs: number };

/** SIGKILL to a process; to a group if negative. */
const killNow = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
};

/** SIGKILL to a program and all that it has started. */
const killGroup = ({ pid }: ChildProcess): void => {
  if (pid !== undefined) killNow(-pid);
};

const started = ({ command, env = {} }: Program, log: string): ChildProcess => {
  const [program = "", ...args] = command;
  const file = openSync(log, "a");
  return spawn("setpriv", [...endsWithParent, program, ...args], {
    // The head of a process group, so that a kill takes the processes that it has started, too.
    detached: true,
    stdio: ["ignore", file, file],
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...env },
  });
};

export type Processes = {
  readonly kill: (awayMs: number) => void;
  /** Kills the process whose connection has this port. */
  readonly killSender: (port: number) => void;
  readonly double: () => void;
  readonly isUp: () => boolean;
  readonly stop: () => Promise<void>;
};

export const openProcesses = (program: Program, log: string, say: (line: string) => void): Processes => {
  const running: Running = { first: undefined, second: undefined, sinceMs: 0 };
  let isOver = false;
  const start = (): void => {
    if (isOver) return;
    const child = started(program, log);
    running.first = child;
    running.sinceMs = performance.now();
    child.once("exit", () => {
      killGroup(child);
      if (running.first !== child) return;
      running.first = undefined;
      // A process that ends by itself is started again, as by a Deployment.
      setTimeout(start, 1_000).unref();
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
      // From now on it is away: a second kill at the same moment must not start a second instance.
      running.first = undefined;
      setTimeout(start, awayMs);
    },
    killSender: (port) => {
      const group = running.first?.pid;
      const pid = group === undefined ? undefined : processAt(port, group);
      if (pid === undefined) return;
      say(`process ${pid}, which sent the request, is killed`);
      killNow(pid);
    },
    double: () => {
      if (running.second !== undefined) return;
      say(`a second instance for ${secondMs / 1_000} s`);
      const second = started(program, log);
      running.second = second;
      setTimeout(() => {
        killGroup(second);
        running.second = undefined;
      }, secondMs).unref();
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
