/** NATS' server as a child process: on 127.0.0.1, on a free port, with JetStream in a folder, until `stop`. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { overlaid } from "../../support/kustomized.ts";
import { freePort, isOpen } from "../../support/port.ts";
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

/** The ports of a server on 127.0.0.1, and the folder of its streams. */
type Place = { readonly port: number; readonly monitor: number; readonly store: string };

type Opening = {
  /** The folder of the configuration and the log. */
  readonly dir: string;
  /** The folder of the streams; absent: one in `dir`. */
  readonly store?: string;
  /** Returns the configuration; absent: JetStream without users. */
  readonly configuration?: (place: Place) => string;
  /** Variables that the configuration names. */
  readonly env?: Readonly<Record<string, string>>;
};

/** A server on 127.0.0.1 with further lines of configuration, without JetStream. */
export const without = ({ port, monitor }: Place, more = ""): string =>
  `host: 127.0.0.1\nport: ${port}\nhttp: "127.0.0.1:${monitor}"\n${more}\n`;

/** A server on 127.0.0.1 with JetStream, and further lines of configuration. */
export const plain = (place: Place, more = ""): string =>
  without(place, `jetstream { store_dir: ${JSON.stringify(place.store)} }\n${more}`);

const configurationMap = z.object({ data: z.object({ "nats.conf": z.string() }) });

/** Returns the configuration of the overlay's server, on 127.0.0.1. It names the variable REKINDLE_NATS_USER. */
export const ofOverlay = ({ port, monitor, store }: Place): string => {
  const maps = overlaid("nats").flatMap((object) => configurationMap.safeParse(object).data?.data ?? []);
  const [map] = maps;
  if (map === undefined) throw new Error("the overlay has no configuration of the server");
  return map["nats.conf"]
    .replace(/^port: .*$/m, `host: 127.0.0.1\nport: ${port}`)
    .replace(/^http_port: .*$/m, `http: "127.0.0.1:${monitor}"`)
    .replace(/store_dir: .*$/m, `store_dir: ${JSON.stringify(store)}`);
};

/** Starts the server. The part `nats` of the set-up must be installed. */
export const startNats = async (opening: Opening): Promise<NatsServer> => {
  const { dir, store = join(dir, "jetstream"), configuration = plain, env = {} } = opening;
  const program = await natsProgram();
  const [port, monitor] = [await freePort(), await freePort()];
  const file = join(dir, "nats.conf");
  const log = openSync(join(dir, "nats.log"), "a");
  await writeFile(file, configuration({ port, monitor, store }));
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const begun = spawn(program, ["-c", file], { stdio: ["ignore", log, log], env: { ...process.env, ...env } });
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
