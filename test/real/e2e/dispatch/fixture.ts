/**
 * The fixture of functions that a dispatcher calls: the dispatcher as a process under its overlay's account and settings,
 * and its functions on a platform that starts, stops and kills their processes.
 */
import { join } from "node:path";
import { freePort } from "../../../support/port.ts";
import { dataIn } from "../../infra/overlays.ts";
import { triggerSecret } from "../../lambda/cloud.ts";
import { type Random, randomFrom } from "../../lambda/random.ts";
import { type Fixture, type Installed, openSurroundings, resyncMs } from "../functions/fixture.ts";
import { keepUp } from "../functions/storm.ts";
import { startFunction } from "../installed.ts";
import type { LaneOptions } from "../lambda/lane.ts";
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

/** Starts the dispatcher; `settings` replace those of the overlay. */
export const startDispatched = async (
  { overlay, logs, recordFor }: Installed,
  random: Random,
  settings: Readonly<Record<string, string>> = {},
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
  };
  const dispatcher = keepUp(() => startFunction("dispatch", env, join(logs, "dispatch.log")), {
    ...{ name: "the dispatcher", least: fewestDispatcherKills, lives: dispatcherLives, random, storm },
  });
  const { answers } = functions.reconcile;
  return {
    functions,
    daemons: [dispatcher],
    door: `http://127.0.0.1:${door}`,
    work: async () => ({ taken: answers.length, failed: answers.filter((status) => status !== 200).length }),
    storm,
    stop: async () => {
      await dispatcher.stop();
      await Promise.all([functions.reconcile.stop(), functions.deliver.stop()]);
    },
  };
};

export const openDispatched = async (dir: string, { seed }: LaneOptions): Promise<Fixture> => {
  const { close, cluster, audit, witness, ...installed } = await openSurroundings(dir, "dispatch");
  const started = await startDispatched(installed, randomFrom(seed));
  const stop = async (): Promise<void> => {
    await started.stop();
    await close();
  };
  return { cluster, audit, witness, ...started, stop };
};
