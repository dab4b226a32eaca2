/** A started sandbox: finds the container's process, signals it, runs more commands inside, and reports its end. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { programPath } from "./images.ts";
import type { User } from "./sandbox.ts";

export type Running = {
  /** Resolves with the host's pid of the command inside, or undefined if it was never started. */
  readonly started: Promise<number | undefined>;
  /** 128 + number when a signal ended it. */
  readonly exit: Promise<number>;
  /** Signals the command alone, as a container runtime does. */
  readonly signal: (signal: NodeJS.Signals) => Promise<void>;
  /** Kills the sandbox with all its processes. */
  readonly kill: () => void;
  readonly exec: (command: readonly string[], timeoutMs: number) => Promise<Executed>;
};

export type Executed = { readonly code: number; readonly output: string };

export type Start = {
  readonly argv: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly logFile: string;
  readonly user: User;
};

const firstProcess = (child: ChildProcess): Promise<number | undefined> =>
  new Promise((resolve) => {
    const info = child.stdio[3];
    let said = "";
    info?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      const found = /"child-pid": (\d+)/.exec(said);
      if (found !== null) resolve(Number(found[1]));
    });
    child.on("exit", () => resolve(undefined));
  });

const childOf = (pid: number): number | undefined => {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ")[0]) || undefined;
  } catch {
    return undefined;
  }
};

/** The sandbox's first process is a reaper, which starts the command when all mounts are ready. */
const commandIn = async (child: ChildProcess): Promise<number | undefined> => {
  const first = await firstProcess(child);
  while (first !== undefined && child.exitCode === null && child.signalCode === null) {
    const pid = childOf(first);
    if (pid !== undefined) return pid;
    await sleep(3);
  }
  return undefined;
};

const signalNumbers: Readonly<Record<string, number>> = { SIGKILL: 9, SIGTERM: 15, SIGINT: 2, SIGHUP: 1 };

const runInside = (pid: number, start: Start, command: readonly string[], timeoutMs: number): Promise<Executed> => {
  const { user, env } = start;
  const spaces = ["--mount", "--uts", "--ipc", "--net", "--pid"];
  const identity = user.uid === 0 ? [] : ["--setuid", String(user.uid), "--setgid", String(user.gid)];
  const argv = ["--target", String(pid), ...spaces, ...identity, "--", ...command];
  const options = { timeout: timeoutMs, killSignal: "SIGKILL" as const, env: Object.fromEntries(env) };
  return new Promise((resolve) => {
    execFile(programPath("nsenter"), argv, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 137;
      resolve({ code, output: stdout + stderr });
    });
  });
};

/**
 * The niceness of a container's session: eight that work leave the test about a quarter of the processors. More of it starves
 * Spark's drivers, which end when the API server gives no connection within ten seconds.
 */
const niceness = 4;

/**
 * Linux shares the processors among sessions (`man 7 sched`, autogroup), and each container has a session of its own. A whole
 * test is one session: its control plane, its functions, and the services that it emulates. Without this, starting JVMs left these
 * services without an answer for a minute. A kernel without groups of sessions has no such file.
 */
const yieldProcessors = (session: number): Promise<void> =>
  writeFile(`/proc/${session}/autogroup`, String(niceness)).catch(() => {});

export const startProcess = (start: Start): Running => {
  const log = openSync(start.logFile, "a", 0o666);
  const [program = "", ...args] = start.argv;
  const child = spawn(program, args, { stdio: ["ignore", log, log, "pipe"], env: Object.fromEntries(start.env) });
  closeSync(log);
  const exit = new Promise<number>((resolve) => {
    child.on("error", () => resolve(128));
    child.on("exit", (code, signal) => resolve(code ?? 128 + (signalNumbers[signal ?? ""] ?? 0)));
  });
  const started = commandIn(child);
  void started.then((pid) => (pid === undefined ? undefined : yieldProcessors(pid)));
  return {
    started,
    exit,
    signal: async (signal) => {
      const pid = await started;
      try {
        if (pid !== undefined) process.kill(pid, signal);
      } catch {
        // It has just exited.
      }
    },
    kill: () => void child.kill("SIGKILL"),
    exec: async (command, timeoutMs) => {
      const pid = await started;
      return pid === undefined ? { code: 126, output: "not running" } : runInside(pid, start, command, timeoutMs);
    },
  };
};

/** Returns the last bytes of a file as text. */
export const tailOf = (file: string, bytes: number): string => {
  try {
    const whole = readFileSync(file);
    return whole.subarray(Math.max(0, whole.length - bytes)).toString();
  } catch {
    return "";
  }
};
