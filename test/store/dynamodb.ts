/** DynamoDB Local as a process of ours: in memory, on 127.0.0.1, on a free port, and gone when told. */
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../queue/elasticmq.ts";
import { dynamoJars } from "../setup/store.ts";

export type DynamoLocal = {
  /** For AWS_ENDPOINT_URL_DYNAMODB. */
  readonly endpoint: string;
  stop(): Promise<void>;
};

const startLimitMs = 60_000;

/** An answer of any kind means that it listens. */
const answering = async (endpoint: string, child: ChildProcess, log: string): Promise<void> => {
  const until = Date.now() + startLimitMs;
  while (Date.now() < until) {
    if (child.exitCode !== null) throw new Error(`DynamoDB Local ended with ${child.exitCode}; see ${log}`);
    const answer = await fetch(endpoint).catch(() => undefined);
    if (answer !== undefined) return;
    await sleep(100);
  }
  throw new Error(`DynamoDB Local did not listen within ${startLimitMs / 1_000} s; see ${log}`);
};

/** Starts it, with one set of tables for all regions and keys; its log lies in `dir`. The part `store` of the set-up must be there. */
export const startDynamoLocal = async (dir: string): Promise<DynamoLocal> => {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const log = join(dir, "dynamodb.log");
  const jars = await dynamoJars();
  const options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", `-Djava.library.path=${jars}`];
  const launcher = join(import.meta.dirname, "Local.java");
  const args = [
    ...options,
    "-cp",
    join(jars, "*"),
    launcher,
    "-inMemory",
    "-sharedDb",
    "-disableTelemetry",
    "-port",
    String(port),
  ];
  // setpriv: whatever ends the lane, also SIGKILL, ends the server.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "java", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const output = createWriteStream(log);
  child.stdout.pipe(output);
  child.stderr.pipe(output, { end: false });
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  const stop = async (): Promise<void> => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    if (child.exitCode === null && child.kill("SIGKILL")) await ended;
  };
  try {
    await Promise.race([answering(endpoint, child, log), failed]);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { endpoint, stop };
};
