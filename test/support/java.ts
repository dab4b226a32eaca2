/** Runs a server in Java as a child process: on 127.0.0.1, with a log, until it is stopped or the lane ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export type JavaServer = { readonly pid: number; stop(): Promise<void> };

export type JavaStart = {
  /** Name for people. */
  readonly name: string;
  /** Folder of its jars, which are its class path. */
  readonly jars: string;
  /** After the class path: the main class or source file, and its arguments. */
  readonly args: readonly string[];
  /** Options of the virtual machine beside those that keep it small. */
  readonly options: readonly string[];
  /** The server listens when this URL answers at all. */
  readonly url: string;
  /** File for its output. */
  readonly log: string;
};

const small = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
const startLimitMs = 60_000;

const answering = async ({ name, url, log }: JavaStart, child: ChildProcess): Promise<void> => {
  const until = Date.now() + startLimitMs;
  while (Date.now() < until) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}; see ${log}`);
    if ((await fetch(url).catch(() => undefined)) !== undefined) return;
    await sleep(100);
  }
  throw new Error(`${name} did not listen within ${startLimitMs / 1_000} s; see ${log}`);
};

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) resolve();
    child.once("exit", () => resolve());
  });

/** Starts the server and waits until it answers, at most a minute. */
export const startJava = async (start: JavaStart): Promise<JavaServer> => {
  const args = [...small, ...start.options, "-cp", join(start.jars, "*"), ...start.args];
  // setpriv: any end of the lane, also by SIGKILL, ends the server.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "java", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const output = createWriteStream(start.log);
  child.stdout.pipe(output);
  child.stderr.pipe(output, { end: false });
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended(child);
  };
  try {
    await Promise.race([answering(start, child), failed]);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { pid: child.pid ?? 0, stop };
};
