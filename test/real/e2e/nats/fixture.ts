/**
 * The fixture of functions whose queue is on NATS: its server under the overlay's configuration, the forwarder and the
 * API as processes that are always up, workers that run while messages wait, and resyncs by schedule. Each has the
 * overlay's account and settings.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { nkeys } from "@nats-io/transport-node";
import { freePort } from "../../../support/port.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { dataIn } from "../../infra/overlays.ts";
import { triggerSecret } from "../../lambda/cloud.ts";
import { type Random, randomFrom } from "../../lambda/random.ts";
import { type NatsServer, ofOverlay, startNats } from "../../queue/nats-server.ts";
import { type Fixture, openSurroundings, resyncMs } from "../functions/fixture.ts";
import { keepUp, strike } from "../functions/storm.ts";
import { startCommand, startFunction } from "../installed.ts";
import type { LaneOptions } from "../lambda/lane.ts";
import { resyncCommandIn, scalingIn } from "./overlay.ts";
import { type Life, query, type Scaled, scale } from "./scaler.ts";

/** The overlay's are 60 s and 100 messages: with these, workers are stopped in the quiet, and run beside each other. */
const scaling = { cooldownMs: 5_000, threshold: 10 };

const senderLives = { leastMs: 6_000, mostMs: 14_000 };
const serverLives = { leastMs: 10_000, mostMs: 30_000 };
/** The time until the server is started again, ms. */
const serverAwayMs = 500;

const fewestSenderKills = 4;

/** A run of few kills is a short one. */
const serverKillsOf = (kills: number): number => (kills >= 200 ? 10 : 3);

/**
 * The time that a worker lives: some die before they have pulled a message. Each kill may cost a key its visibility
 * timeout, so others live for some steps.
 */
const lifeOf = (random: Random): Life =>
  random() < 0.3
    ? { from: "start", ms: Math.round(random() * 600) }
    : { from: "ready", ms: Math.round(2_000 + random() * 18_000) };

/** Runs resyncs by schedule until `stop`. */
const resyncing = (command: readonly string[], env: Readonly<Record<string, string>>, log: string) => {
  let isOver = false;
  const running = async (): Promise<void> => {
    for (let nth = 0; !isOver; nth += 1) {
      const child = startCommand(command, { ...env, HOSTNAME: `rekindle-resync-${nth}` }, log);
      await once(child, "exit");
      for (const until = performance.now() + resyncMs; !isOver && performance.now() < until; ) await sleep(200);
    }
  };
  const loop = running();
  return async (): Promise<void> => {
    isOver = true;
    await loop;
  };
};

const user = nkeys.createUser();

const startServer = async (dir: string): Promise<NatsServer> =>
  await startNats({ dir, configuration: ofOverlay, env: { REKINDLE_NATS_USER: user.getPublicKey() } });

/** A process that sends the keys of changes. */
export type KeySender = {
  /** The function that it runs. */
  readonly name: "forward" | "bell";
  /** Settings beside those of every function, from the control plane and the sender's port. */
  readonly env?: (cluster: Cluster) => Readonly<Record<string, string>>;
  /** Called when it may begin to send. */
  readonly register?: (cluster: Cluster, port: number) => Promise<void>;
  /** Its end in the storm; absent: SIGKILL. */
  readonly end?: (kills: number) => (child: ChildProcess) => Promise<void>;
};

const forwarder: KeySender = { name: "forward" };

export const openOnNats = async (
  dir: string,
  { seed, kills }: LaneOptions,
  sender: KeySender = forwarder,
): Promise<Fixture> => {
  const random = randomFrom(seed);
  const { overlay, logs, recordFor, close, ...around } = await openSurroundings(dir, "nats");
  const server = await startServer(logs);
  const storm = { blows: true };
  const envFor = async (name: string): Promise<Readonly<Record<string, string>>> => ({
    ...dataIn(overlay),
    // The bell has no account.
    ...(name === "bell" ? {} : { REKINDLE_CLUSTER_RECORD: await recordFor(name) }),
    REKINDLE_NATS_URL: server.url,
    REKINDLE_NATS_CREDENTIALS: new TextDecoder().decode(user.getSeed()),
    REKINDLE_UPDATES_TO: "events",
    REKINDLE_TRIGGER_SECRET: triggerSecret,
  });
  const logOf = (name: string): string => join(logs, `${name}.log`);
  const senderOf = async ({ name, env: more, end }: Omit<KeySender, "name"> & { readonly name: string }) => {
    const [env, port] = [await envFor(name), await freePort()];
    const listening = { ...env, ...more?.(around.cluster), REKINDLE_LISTEN: `127.0.0.1:${port}` };
    const struck = { name: `the function ${name}`, least: fewestSenderKills, lives: senderLives, random, storm };
    return { daemon: keepUp(() => startFunction(name, listening, logOf(name)), struck, end?.(kills)), port };
  };
  const workerOf = async (name: string): Promise<Scaled> => {
    const { rule, queue } = scalingIn(overlay, `rekindle-${name}`);
    const env = await envFor(name);
    return scale({
      rule: { ...rule, ...scaling },
      look: () => query(server.monitoring, queue),
      begin: async () => {
        const port = await freePort();
        return { child: startFunction(name, { ...env, REKINDLE_LISTEN: `127.0.0.1:${port}` }, logOf(name)), port };
      },
      life: () => (storm.blows ? lifeOf(random) : undefined),
    });
  };
  const [keys, api] = [await senderOf(sender), await senderOf({ name: "api" })];
  await sender.register?.(around.cluster, keys.port);
  const functions = { reconcile: await workerOf("reconcile"), deliver: await workerOf("deliver") };
  const stopResyncs = resyncing(resyncCommandIn(overlay), await envFor("resync"), logOf("resync"));
  const serverKills = serverKillsOf(kills);
  const broker = strike(
    { name: "NATS' server", least: serverKills, most: serverKills, lives: serverLives, random, storm },
    {
      kill: async () => {
        await server.kill();
        await sleep(serverAwayMs);
        await server.start();
      },
      end: server.stop,
    },
  );
  const { queue } = scalingIn(overlay, "rekindle-reconcile");
  return {
    ...around,
    functions,
    daemons: [keys.daemon, api.daemon],
    logs,
    broker,
    door: `http://127.0.0.1:${api.port}`,
    work: async () => {
      const seen = await query(server.monitoring, queue);
      if (seen === undefined) throw new Error("the server's monitoring does not answer");
      return { taken: seen.given, failed: seen.dead };
    },
    storm,
    stop: async () => {
      await stopResyncs();
      await Promise.all([keys.daemon.stop(), api.daemon.stop()]);
      await Promise.all([functions.reconcile.stop(), functions.deliver.stop()]);
      await broker.stop();
      await close();
    },
  };
};
