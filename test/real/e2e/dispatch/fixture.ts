/**
 * The fixture of this lane: a real cluster with an audit log, the dispatcher as a process under its overlay's account
 * and settings, and its functions on a platform that starts, stops and kills their processes.
 */
import type { ChildProcess } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../../support/port.ts";
import { type Audit, openAudit } from "../../cluster/audit.ts";
import { type Cluster, startCluster } from "../../cluster/cluster.ts";
import { install as applied } from "../../infra/accepted.ts";
import { byDispatcher } from "../../infra/functions.ts";
import { recordOf, triggerSecret } from "../../lambda/cloud.ts";
import { type Random, randomFrom } from "../../lambda/random.ts";
import { install, startFunction } from "../installed.ts";
import { collection, observeAll, type Witness } from "../lambda/witness.ts";
import { type Fate, openPlatform, type Platform } from "./platform.ts";

/** The dispatcher as a Deployment runs it: it is started again when it has ended. */
type Dispatcher = {
  /** `http://…` of its API. */
  readonly url: string;
  readonly kills: () => number;
  readonly stop: () => Promise<void>;
};

export type Fixture = {
  readonly cluster: Cluster;
  readonly audit: Audit;
  readonly witness: Witness;
  readonly platforms: Readonly<Record<"reconcile" | "deliver", Platform>>;
  readonly dispatcher: Dispatcher;
  /** The storm: kills of functions and of the dispatcher. It begins at once. */
  readonly storm: { blows: boolean };
  stop(): Promise<void>;
};

/** A resync finds what a message that was given up has left; the overlay's is 5 minutes. */
export const resyncMs = 30_000;
/** Knative waits for 30 s and more. */
const idleMs = 3_000;
/** A killed dispatcher keeps its lease for 15 s. */
export const dispatcherLives = { leastMs: 20_000, mostMs: 45_000 };

const fateOf = (random: Random): Fate | undefined => {
  const drawn = random();
  if (drawn < 0.15) return { when: "before" };
  if (drawn < 0.3) return { when: "after" };
  return drawn < 0.5 ? { when: "middle", afterMs: Math.round(random() * 250) } : undefined;
};

type Begin = { readonly log: string; readonly env: Readonly<Record<string, string>> };

const startDispatcher = ({ log, env }: Begin, url: string, random: Random, storm: Fixture["storm"]): Dispatcher => {
  let kills = 0;
  let isOver = false;
  const begin = (): ChildProcess => startFunction("dispatch", env, log);
  let child = begin();
  const gone = (): Promise<unknown> => new Promise((resolve) => child.once("exit", resolve));
  const restarting = async (): Promise<void> => {
    while (!isOver) {
      await gone();
      if (isOver) return;
      await sleep(200);
      child = begin();
    }
  };
  const killing = async (): Promise<void> => {
    while (!isOver) {
      const { leastMs, mostMs } = dispatcherLives;
      for (const until = performance.now() + leastMs + random() * (mostMs - leastMs); performance.now() < until; )
        if (isOver) return;
        else await sleep(200);
      if (!storm.blows) continue;
      kills += 1;
      child.kill("SIGKILL");
    }
  };
  const loops = [restarting(), killing()];
  return {
    url,
    kills: () => kills,
    stop: async () => {
      isOver = true;
      child.kill("SIGKILL");
      await Promise.all(loops);
    },
  };
};

export const openFixture = async (dir: string, seed: number): Promise<Fixture> => {
  const random = randomFrom(seed);
  const audit = await openAudit(dir, "rekindle");
  const cluster = await startCluster({ nodes: 1, dir, extra: audit.flags });
  await install(cluster, undefined);
  await applied(cluster, await byDispatcher.accounts(cluster));
  const { envOf: settingsOf } = await byDispatcher.open(cluster, dir);
  await cluster.api.until(collection, ({ status }) => status === 200, 30_000);
  const logs = join(dir, "logs");
  await mkdir(logs, { recursive: true });
  const storm = { blows: true };
  const [door, reconcile, deliver] = [await freePort(), await freePort(), await freePort()];
  const common = {
    ...settingsOf("dispatch"),
    REKINDLE_CALL_URLS: `reconcile=http://127.0.0.1:${reconcile}/,deliver=http://127.0.0.1:${deliver}/`,
    REKINDLE_CALL_SECRET: "a secret that signs the calls of this lane",
    REKINDLE_UPDATES_TO: "events",
    REKINDLE_RESYNC: `${resyncMs / 1_000}s`,
  };
  const recordFor = async (name: string): Promise<string> =>
    await recordOf(await cluster.kubeconfigOf("rekindle", `rekindle-${name}`));
  const platformOf = async (name: "reconcile" | "deliver", port: number): Promise<Platform> => {
    const record = await recordFor(name);
    return await openPlatform({
      ...{ name, port, idleMs, log: join(logs, `${name}.log`) },
      envOf: (listen) => ({ ...common, REKINDLE_CLUSTER_RECORD: record, REKINDLE_LISTEN: listen }),
      fate: () => (storm.blows ? fateOf(random) : undefined),
    });
  };
  const platforms = {
    reconcile: await platformOf("reconcile", reconcile),
    deliver: await platformOf("deliver", deliver),
  };
  const env = {
    ...common,
    REKINDLE_CLUSTER_RECORD: await recordFor("dispatch"),
    REKINDLE_LISTEN: `127.0.0.1:${door}`,
    REKINDLE_TRIGGER_SECRET: triggerSecret,
  };
  const begin = { log: join(logs, "dispatch.log"), env };
  const dispatcher = startDispatcher(begin, `http://127.0.0.1:${door}`, random, storm);
  const witness = observeAll(cluster.api);
  const stop = async (): Promise<void> => {
    await dispatcher.stop();
    await Promise.all([platforms.reconcile.stop(), platforms.deliver.stop()]);
    await witness.stop();
    await cluster.stop();
  };
  return { cluster, audit, witness, platforms, dispatcher, storm, stop };
};
