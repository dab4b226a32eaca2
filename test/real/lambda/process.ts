/**
 * The process of one environment: the real runtime client with a function's bundle; it can be frozen, resumed, killed
 * and measured.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Definition } from "./definition.ts";

export type Usage = { readonly cpuMs: number; readonly peakMb: number };

export type Program = {
  /** Resolves when the process has exited for any reason. */
  readonly gone: Promise<void>;
  isGone(): boolean;
  freeze(): void;
  thaw(): void;
  kill(): void;
  /** From the kernel; undefined once the process has exited. */
  usage(): Usage | undefined;
};

const clockTicks = 100;

const usageOf = (pid: number): Usage | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    if (peak === undefined) return undefined;
    return { cpuMs: ((Number(stat[11]) + Number(stat[12])) * 1_000) / clockTicks, peakMb: Number(peak) / 1_024 };
  } catch {
    return undefined;
  }
};

/** Returns the variables that Lambda sets for a runtime. */
const told = (definition: Definition, address: string, stream: number): Record<string, string> => ({
  AWS_LAMBDA_RUNTIME_API: address,
  AWS_LAMBDA_FUNCTION_NAME: definition.name,
  AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMb),
  AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
  AWS_LAMBDA_LOG_STREAM_NAME: `local/${stream}`,
  LAMBDA_TASK_ROOT: definition.taskRoot,
  _HANDLER: `${definition.module}.handler`,
  PATH: process.env["PATH"] ?? "",
  TZ: ":UTC",
});

const startChild = (client: string, definition: Definition, address: string, stream: number): ChildProcess => {
  const log = openSync(join(definition.logDir, `${definition.name}.log`), "a");
  try {
    // setpriv: the environments end with the lane, even by SIGKILL.
    return spawn("setpriv", ["--pdeathsig", "KILL", process.execPath, client], {
      cwd: definition.taskRoot,
      stdio: ["ignore", log, log],
      env: { ...told(definition, address, stream), ...definition.environment },
    });
  } finally {
    closeSync(log);
  }
};

/** Starts the client; its output and the function's is appended to the function's log. */
export const startProgram = (client: string, definition: Definition, address: string, stream: number): Program => {
  const child = startChild(client, definition, address, stream);
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  child.once("exit", () => resolve());
  child.once("error", () => resolve());
  const isGone = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    gone,
    isGone,
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    kill: () => void child.kill("SIGKILL"),
    usage: () => (child.pid === undefined || isGone() ? undefined : usageOf(child.pid)),
  };
};
