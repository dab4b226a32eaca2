/** ElasticMQ as a process of ours: on 127.0.0.1, on a free port, with the limits of the real SQS, and gone when told. */
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { elasticMqJars } from "../setup/queue.ts";

export type ElasticMq = {
  /** For AWS_ENDPOINT_URL_SQS. */
  readonly endpoint: string;
  readonly pid: number;
  stop(): Promise<void>;
};

/** A port of 127.0.0.1 that nobody listens on. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

const configuration = (port: number): string => `include classpath("application.conf")
node-address { protocol = http, host = "127.0.0.1", port = ${port}, context-path = "" }
rest-sqs { enabled = true, bind-port = ${port}, bind-hostname = "127.0.0.1", sqs-limits = strict }
rest-stats { enabled = false }
`;

const startLimitMs = 60_000;

/** An answer of any kind means that it listens. */
const listening = async (endpoint: string, child: ChildProcess, log: string): Promise<void> => {
  const until = Date.now() + startLimitMs;
  while (Date.now() < until) {
    if (child.exitCode !== null) throw new Error(`ElasticMQ ended with ${child.exitCode}; see ${log}`);
    const answer = await fetch(`${endpoint}/?Action=ListQueues`).catch(() => undefined);
    if (answer !== undefined) return;
    await sleep(100);
  }
  throw new Error(`ElasticMQ did not listen within ${startLimitMs / 1_000} s; see ${log}`);
};

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    child.once("exit", () => resolve());
  });

/** Starts it; its configuration and its log lie in `dir`. The part `queue` of the set-up must be there. */
export const startElasticMq = async ({ dir }: { readonly dir: string }): Promise<ElasticMq> => {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const file = join(dir, "elasticmq.conf");
  const log = join(dir, "elasticmq.log");
  await writeFile(file, configuration(port));
  const options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", `-Dconfig.file=${file}`];
  const args = [...options, "-cp", join(await elasticMqJars(), "*"), "org.elasticmq.server.Main"];
  // setpriv: whatever ends the lane, also SIGKILL, ends the queue.
  const child = spawn("setpriv", ["--pdeathsig", "KILL", "java", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const output = createWriteStream(log);
  child.stdout.pipe(output);
  child.stderr.pipe(output, { end: false });
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended(child);
  };
  try {
    await Promise.race([listening(endpoint, child, log), failed]);
  } catch (cause) {
    await stop();
    throw cause;
  }
  return { endpoint, pid: child.pid ?? 0, stop };
};
