/** NATS' server as a child process: on 127.0.0.1, on a free port, with JetStream in a folder, until `stop`. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../support/port.ts";
import { natsProgram } from "../setup/nats.ts";

export type NatsServer = {
  /** `nats://127.0.0.1:…`, without credentials. */
  readonly url: string;
  /** `http://127.0.0.1:…` of its monitoring. */
  readonly monitoring: string;
  /** Kills it with -9; its port and its folder stay. */
  readonly kill: () => Promise<void>;
  /** Starts it again. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

type Opening = {
  readonly dir: string;
  /** Further lines of its configuration. */
  readonly configuration?: string;
  /** Absent: on. */
  readonly jetStream?: boolean;
};

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

/** Starts the server; its files are in `dir`. The part `nats` of the set-up must be installed. */
export const startNats = async ({ dir, configuration = "", jetStream = true }: Opening): Promise<NatsServer> => {
  const program = await natsProgram();
  const [port, monitor] = [await freePort(), await freePort()];
  const file = join(dir, "nats.conf");
  const log = openSync(join(dir, "nats.log"), "a");
  await writeFile(
    file,
    `host: 127.0.0.1
port: ${port}
http: "127.0.0.1:${monitor}"
${jetStream ? `jetstream { store_dir: ${JSON.stringify(join(dir, "jetstream"))} }` : ""}
${configuration}
`,
  );
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const begun = spawn(program, ["-c", file], { stdio: ["ignore", log, log] });
    child = begun;
    for (const until = performance.now() + 20_000; !(await isOpen(port)); await sleep(20)) {
      if (begun.exitCode !== null) throw new Error(`the server of NATS ended with ${begun.exitCode}`);
      if (performance.now() > until) throw new Error("the server of NATS does not listen");
    }
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
    child = undefined;
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    monitoring: `http://127.0.0.1:${monitor}`,
    start,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  };
};
