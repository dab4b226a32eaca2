/** The fixture of this lane: a real cluster with an audit log, a real queue, and Rekindle as functions in a storm. */
import { join } from "node:path";
import * as z from "zod";
import { type Audit, openAudit } from "../../cluster/audit.ts";
import { type Cluster, startCluster } from "../../cluster/cluster.ts";
import { type Cloud, openCloud } from "../../lambda/cloud.ts";
import { type Fate, type Fates, fatesOf, spared } from "../../lambda/fates.ts";
import { type Mischief, none } from "../../lambda/meddler.ts";
import { type Random, randomFrom } from "../../lambda/random.ts";
import { type Schedule, startSchedule } from "../../lambda/schedule.ts";
import { startElasticMq } from "../../queue/elasticmq.ts";
import { runtimeClient } from "../../setup/lambda.ts";
import { install, installFunctions } from "../installed.ts";
import { leaveRights } from "../rights.ts";
import { collection, observeAll, type Witness } from "./witness.ts";

/** A message that a function sent, and the time (epoch ms). */
export type Sent = { readonly name: string; readonly reason: string; readonly at: number };

export type Fixture = {
  readonly cluster: Cluster;
  readonly cloud: Cloud;
  readonly audit: Audit;
  readonly witness: Witness;
  readonly forwarding: Schedule;
  readonly sent: readonly Sent[];
  readonly random: Random;
  /** The storm: kills, stalls, duplicated and delayed messages. It begins at once. */
  readonly storm: { blows: boolean };
  stop(): Promise<void>;
};

const mischief: Mischief = { twice: 0.15, late: 0.15, lateMs: 6_000 };
const windowSeconds = 4;
const forwardEveryMs = 6_000;
/** Minutes in a cloud. A key that is given up after too many kills in a row waits for the next resync. */
export const resyncEveryMs = 30_000;

/**
 * Kills a forwarder in the middle of its window, at its end, or before its next one, so that none serves a second
 * window. Every window but the first therefore continues from the cursor that the one before has stored.
 */
const forwarderFate = (random: Random, windowMs: number): Fate => {
  const drawn = random();
  if (drawn < 0.35) return { do: "kill", when: "middle", afterMs: Math.round(random() * windowMs) };
  return { do: "kill", when: drawn < 0.45 ? "before" : drawn < 0.6 ? "after" : "idle" };
};

const stormOf = (random: Random): Fates => {
  const others = fatesOf({ random, kill: 0.45, stall: 0.03, stallMs: [500, 13_000] });
  return (name, typicalMs) =>
    name === "forward" ? forwarderFate(random, windowSeconds * 1_000) : others(name, typicalMs);
};

const message = z.object({ name: z.string(), reason: z.string() });

export const openFixture = async (dir: string, seed: number, only: string | undefined): Promise<Fixture> => {
  const random = randomFrom(seed);
  const audit = await openAudit(dir, "rekindle");
  const cluster = await startCluster({ nodes: 1, dir, extra: audit.flags });
  const kubeconfig = await install(cluster, undefined);
  const kubeconfigs = await installFunctions(cluster);
  await cluster.api.until(collection, ({ status }) => status === 200, 30_000);
  const broker = await startElasticMq({ dir });
  const storm = { blows: true };
  const fates = stormOf(random);
  const sent: Sent[] = [];
  const cloud = await openCloud({
    ...{ kubeconfig, kubeconfigs, random, windowSeconds },
    endpoint: broker.endpoint,
    client: await runtimeClient(),
    dir: join(dir, "logs"),
    fates: () => (storm.blows ? fates : spared),
    mischief: () => (storm.blows ? mischief : none),
    heard: (url, body) => {
      if (url.endsWith(".fifo")) sent.push({ ...message.parse(JSON.parse(body)), at: Date.now() });
    },
    visibilitySeconds: 5,
    concurrency: 4,
  });
  const again = { everyMs: forwardEveryMs, retries: 2, retryMs: 1_000 };
  const forwarding = startSchedule({ ...again, lambda: cloud.functions.forward });
  const resyncing = startSchedule({ ...again, lambda: cloud.functions.resync, everyMs: resyncEveryMs });
  const witness = observeAll(cluster.api);
  const stop = async (): Promise<void> => {
    await Promise.all([forwarding.stop(), resyncing.stop()]);
    await witness.stop();
    await cloud.stop();
    await broker.stop();
    await leaveRights({ lane: "lambda", only }, audit);
    await cluster.stop();
  };
  return { ...{ cluster, cloud, audit, witness, forwarding, sent, random, storm }, stop };
};
