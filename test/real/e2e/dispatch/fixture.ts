/**
 * The fixture of functions that a dispatcher calls: the dispatcher as a process under its overlay's account and settings,
 * and its functions on a platform that starts, stops and kills their processes.
 */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { families } from "../../../../shared/kube/resources.ts";
import { freePort } from "../../../support/port.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { dataIn } from "../../infra/overlays.ts";
import { triggerSecret } from "../../lambda/cloud.ts";
import { type Random, randomFrom } from "../../lambda/random.ts";
import { bellSettings, registerBell } from "../bell/registration.ts";
import { killsOf } from "../functions/cases.ts";
import { type Fixture, type Installed, installOverlay, openSurroundings, resyncMs } from "../functions/fixture.ts";
import { calmed, keepUp } from "../functions/storm.ts";
import { installFunctions, startFunction } from "../installed.ts";
import type { LaneOptions } from "../lambda/lane.ts";
import type { Scene } from "../scene.ts";
import { type Fate, openPlatform, type Platform } from "./platform.ts";

/** Knative waits for 30 s and more. */
const idleMs = 3_000;
/** A killed dispatcher keeps its lease for 15 s. */
export const dispatcherLives = { leastMs: 20_000, mostMs: 45_000 };
const fewestDispatcherKills = 4;

const fateOf = (random: Random): Fate | undefined => {
  const drawn = random();
  if (drawn < 0.15) return { when: "before" };
  if (drawn < 0.3) return { when: "after" };
  return drawn < 0.5 ? { when: "middle", afterMs: Math.round(random() * 250) } : undefined;
};

export type Dispatched = Omit<Fixture, "cluster" | "audit" | "witness">;

type Settings = Readonly<Record<string, string>>;

/** Starts the dispatcher; `settings` replace those of the overlay, `ofDispatcher` of the dispatcher alone. */
export const startDispatched = async (
  { overlay, logs, recordFor }: Installed,
  random: Random,
  { settings = {}, ofDispatcher = {} }: { readonly settings?: Settings; readonly ofDispatcher?: Settings } = {},
): Promise<Dispatched> => {
  const storm = { blows: true };
  const [door, reconcile, deliver] = [await freePort(), await freePort(), await freePort()];
  const common = {
    ...dataIn(overlay),
    REKINDLE_CALL_URLS: `reconcile=http://127.0.0.1:${reconcile}/,deliver=http://127.0.0.1:${deliver}/`,
    REKINDLE_CALL_SECRET: "a secret that signs the calls of this lane",
    REKINDLE_UPDATES_TO: "events",
    REKINDLE_RESYNC: `${resyncMs / 1_000}s`,
    ...settings,
  };
  const platformOf = async (name: "reconcile" | "deliver", port: number): Promise<Platform> => {
    const record = await recordFor(name);
    return await openPlatform({
      ...{ name, port, idleMs, log: join(logs, `${name}.log`) },
      envOf: (listen) => ({ ...common, REKINDLE_CLUSTER_RECORD: record, REKINDLE_LISTEN: listen }),
      fate: () => (storm.blows ? fateOf(random) : undefined),
    });
  };
  const functions = {
    reconcile: await platformOf("reconcile", reconcile),
    deliver: await platformOf("deliver", deliver),
  };
  const env = {
    ...common,
    REKINDLE_CLUSTER_RECORD: await recordFor("dispatch"),
    REKINDLE_LISTEN: `127.0.0.1:${door}`,
    REKINDLE_TRIGGER_SECRET: triggerSecret,
    ...ofDispatcher,
  };
  const dispatcher = keepUp(() => startFunction("dispatch", env, join(logs, "dispatch.log")), {
    ...{ name: "the dispatcher", least: fewestDispatcherKills, lives: dispatcherLives, random, storm },
  });
  const { answers } = functions.reconcile;
  return {
    functions,
    daemons: [dispatcher],
    logs,
    door: `${ofDispatcher["REKINDLE_TLS_CERT_FILE"] === undefined ? "http" : "https"}://127.0.0.1:${door}`,
    work: async () => ({ taken: answers.length, failed: answers.filter((status) => status !== 200).length }),
    storm,
    stop: async () => {
      await dispatcher.stop();
      await Promise.all([functions.reconcile.stop(), functions.deliver.stop()]);
    },
  };
};

const opened = async (
  dir: string,
  { seed }: LaneOptions,
  settingsFor: (cluster: Cluster) => Settings = () => ({}),
): Promise<Fixture> => {
  const { close, cluster, audit, witness, ...installed } = await openSurroundings(dir, "dispatch");
  const started = await startDispatched(installed, randomFrom(seed), { ofDispatcher: settingsFor(cluster) });
  const stop = async (): Promise<void> => {
    await started.stop();
    await close();
  };
  return { cluster, audit, witness, ...started, stop };
};

/** Runs `work` by functions with these settings, and returns its lines and the number of kills. */
export const byFunctions = async (
  scene: Scene,
  settings: Settings,
  work: () => Promise<readonly string[]>,
): Promise<readonly string[]> => {
  const installed = await installOverlay(scene.cluster, join(dirname(scene.hostLog), "functions"), "dispatch");
  // Adds the rights of features and of other families, which the overlay leaves to their users.
  const chosen = settings["REKINDLE_FAMILIES"]?.split(",");
  await installFunctions(scene.cluster, chosen && families.filter((one) => chosen.includes(one)));
  const { functions, daemons, storm, stop } = await startDispatched(installed, scene.random, { settings });
  const calm = calmed(storm, () => killsOf({ functions, daemons }));
  try {
    const lines = await work();
    const kills = daemons.map(({ name, kills: count }) => `${count()} of ${name}`);
    return [...lines, `kills: ${functions.reconcile.kills.length} of reconcile, ${kills.join(", ")}`];
  } finally {
    storm.blows = false;
    await calm;
    await stop();
  }
};

export const openDispatched = (dir: string, options: LaneOptions): Promise<Fixture> => opened(dir, options);

/** The dispatcher serves the bell, and the API server calls it. */
export const openDispatchedBell = async (dir: string, options: LaneOptions): Promise<Fixture> => {
  const fixture = await opened(dir, options, bellSettings);
  await registerBell(fixture.cluster, Number(new URL(fixture.door).port));
  return { ...fixture, authority: await readFile(join(fixture.cluster.dir, "pki", "ca.crt"), "utf8") };
};
