/**
 * Applications that grow within the quota of a real Kueue: as others free it, until a higher priority takes it, and again
 * when it is free. Workloads and pods alone judge.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fieldsOf, omit } from "../../../../shared/core/json.ts";
import { byFunctions } from "../dispatch/fixture.ts";
import {
  begun,
  ended,
  livingIn,
  skippedStages,
  underKills,
  untilRegistered,
  untilRunning,
  untilShuffled,
  type Watched,
  watching,
} from "../elastic/fixture.ts";
import { application, checkedAnswer, openGate, type Waves } from "../elastic/job.ts";
import { type Case, must, type Scene } from "../scene.ts";
import { read } from "../witness.ts";
import { missing, startKueue } from "./controller.ts";
import { createQueues, createRival, deleteRival, untilAdmitted, untilReady } from "./queues.ts";
import { openQuotaRecord, type QuotaRecord } from "./quota-record.ts";

type Course = {
  readonly waves: Waves;
  /** The executors that the application's own Workload admits. */
  readonly base: number;
  /** The quota that others use at first, each of as many cpus. */
  readonly others: readonly number[];
  /** The quota that a higher priority takes, in cpus. */
  readonly taken: number;
  /** It asks for all executors at its start, and Kueue admits the base as a part of them, by a Workload of Rekindle. */
  readonly isPart?: true;
};

const dynamic = "spark.dynamicAllocation";

/** The application in the queue. Kueue's webhook refuses the field of dynamic allocation, so that a conf has it. */
const queued = ({ waves, base, isPart }: Course, gates: string) => {
  const { metadata, spec, ...body } = application(waves, gates);
  const named =
    isPart === true
      ? { annotations: { ...metadata.annotations, "rekindle.dev/kueue-queue": waves.name } }
      : { labels: { "kueue.x-k8s.io/queue-name": waves.name } };
  const confs = {
    [`${dynamic}.enabled`]: "true",
    [`${dynamic}.minExecutors`]: String(base),
    [`${dynamic}.initialExecutors`]: String(isPart === true ? waves.most : base),
    [`${dynamic}.maxExecutors`]: String(waves.most),
    // On a slow machine one task of a round takes long: the executors of the others do not leave meanwhile.
    [`${dynamic}.executorIdleTimeout`]: "3600s",
  };
  return {
    ...body,
    metadata: { ...metadata, ...named },
    spec: {
      ...omit(fieldsOf(spec), "dynamicAllocation"),
      sparkConf: { ...fieldsOf(fieldsOf(spec)["sparkConf"]), ...confs },
      // Kueue's integration counts `coreRequest`, and no `cores`.
      driver: { ...spec.driver, coreRequest: "1" },
      executor: { ...spec.executor, coreRequest: "1", ...(isPart === true ? {} : { instances: base }) },
    },
  };
};

const after = async (watched: Watched, name: string, count: number): Promise<string> => {
  const seconds = await untilRunning(watched, name, count);
  await untilRegistered(watched, name, count);
  watched.scene.say(`${count} executors after ${seconds.toFixed(1)} s`);
  return `${count} after ${seconds.toFixed(1)} s`;
};

/** Frees the quota of others one after the other: the application grows into each part. */
const growing = async (watched: Watched, { waves, base, others }: Course): Promise<readonly string[]> => {
  const times = [await after(watched, waves.name, base)];
  let executors = base;
  for (const [at, cpus] of others.entries()) {
    await deleteRival(watched.scene.cluster, `other-${at}-${waves.name}`);
    executors += cpus;
    times.push(await after(watched, waves.name, executors));
  }
  return times;
};

/** A higher priority takes quota, and gives it back. */
const evicted = async (watched: Watched, { waves, taken }: Course): Promise<readonly string[]> => {
  const { cluster } = watched.scene;
  const urgent = `urgent-${waves.name}`;
  await createRival(cluster, { name: urgent, queue: waves.name, cpus: taken, priority: 1_000 });
  await untilAdmitted(cluster, urgent);
  const fewer = await after(watched, waves.name, waves.most - taken);
  await deleteRival(cluster, urgent);
  return [fewer, await after(watched, waves.name, waves.most)];
};

type Patience = {
  /** Waits while the application keeps as many executors as it has. */
  readonly hold?: () => boolean;
};

const untilHeld = async (watched: Watched, { name, most }: Waves, { hold = () => false }: Patience): Promise<void> => {
  while (hold()) {
    await sleep(500);
    must(livingIn(watched, name).length === most, `${name} has no longer ${most} executors`);
  }
};

/** From the base to the most executors, to fewer by an eviction, and to the most again. */
const course = async (
  watched: Watched,
  record: QuotaRecord,
  plan: Course,
  patience: Patience,
): Promise<readonly string[]> => {
  const { waves } = plan;
  const { cluster } = watched.scene;
  for (const [at, cpus] of plan.others.entries()) {
    const name = `other-${at}-${waves.name}`;
    await createRival(cluster, { name, queue: waves.name, cpus, priority: 0 });
    await untilAdmitted(cluster, name);
  }
  await begun(watched, (gates) => queued(plan, gates));
  const up = await growing(watched, plan);
  await untilReady(cluster, `${waves.name}-grow-`);
  if (plan.isPart === true) await untilReady(cluster, `${waves.name}-base-`);
  await openGate(watched.gates, "many");
  await untilShuffled(watched, waves.name);
  const around = await evicted(watched, plan);
  await untilHeld(watched, waves, patience);
  for (const gate of ["few", "again"] as const) await openGate(watched.gates, gate);
  watched.scene.say("every gate is open");
  const answer = checkedAnswer(await ended(watched, waves.name), waves);
  const { skipped, computed } = await skippedStages(watched, waves.name);
  const { mostExecutors, growths, faults } = record.of((await read(cluster.api, waves.name)).metadata.uid);
  must(faults.length === 0, `${waves.name}: ${faults.slice(0, 5).join("; ")}`);
  must(mostExecutors === waves.most, `${waves.name} had ${mostExecutors} executors at most`);
  return [
    `${waves.name}: "${answer}", executors: ${up.join(", ")}; taken by a higher priority: ${around.join(", ")}`,
    `${mostExecutors} executors at most, ${growths} growths admitted, never an executor without quota, none gated`,
    `event log: ${computed} stages computed, none of them again, ${skipped} skipped`,
  ];
};

/** Runs `work` with queues that have room for the driver and as many executors as it may have. */
const inQueues = async (
  scene: Scene,
  { waves }: Course,
  work: (record: QuotaRecord) => Promise<readonly string[]>,
): Promise<Awaited<ReturnType<Case["run"]>>> => {
  const kueue = await startKueue(scene.cluster);
  if (kueue === undefined) return missing;
  const record = await openQuotaRecord(scene.cluster.adminKubeconfig);
  try {
    await createQueues(scene.cluster, waves.name, { [waves.name]: waves.most + 1 });
    return await work(record);
  } finally {
    record.stop();
    await kueue.stop();
  }
};

const short = (version: string): string => version.replaceAll(".", "-");

const large = (sparkVersion: string): Course => ({
  waves: { name: `grows-${short(sparkVersion)}`, sparkVersion, first: 10, middle: 10, last: 10, most: 10 },
  base: 2,
  others: [4, 4],
  taken: 6,
});

const small = (sparkVersion: string): Course => ({
  waves: { name: `grown-${short(sparkVersion)}`, sparkVersion, first: 3, middle: 3, last: 3, most: 3 },
  base: 1,
  others: [2],
  taken: 2,
});

/** An application of ten executors while the host is killed at least so many times. */
export const growsUnderKills = (sparkVersion: string, kills: number): Case => ({
  name: `Spark ${sparkVersion}: two executors grow to ten as a ClusterQueue frees, a higher priority takes six, they grow again; at least ${kills} kills of the host`,
  run: (scene) => {
    const plan = large(sparkVersion);
    return inQueues(scene, plan, (record) =>
      underKills(scene, (run) => course(run, record, plan, { hold: () => run.killer.kills() < kills })),
    );
  },
});

export const growsALittle = (sparkVersion: string): Case => ({
  name: `Spark ${sparkVersion}: one executor grows to three, loses its growth to a higher priority, and grows again`,
  run: (scene) => {
    const plan = small(sparkVersion);
    return inQueues(scene, plan, (record) => underKills(scene, (run) => course(run, record, plan, {})));
  },
});

export const growsFromAPart = (sparkVersion: string): Case => ({
  name: `Spark ${sparkVersion}: asks for three executors, is admitted with one by a Workload of Rekindle, grows to three, loses two to a higher priority, and grows again`,
  run: (scene) => {
    const plan: Course = {
      ...small(sparkVersion),
      waves: { ...small(sparkVersion).waves, name: `part-${short(sparkVersion)}` },
      isPart: true,
    };
    return inQueues(scene, plan, (record) => underKills(scene, (run) => course(run, record, plan, {})));
  },
});

export const growsByFunctions = (sparkVersion: string): Case => ({
  name: `Spark ${sparkVersion}, by functions: one executor grows to three, loses its growth, and grows again, while the dispatcher and its functions are killed`,
  run: (scene) => {
    const plan = small(sparkVersion);
    return inQueues(scene, plan, (record) =>
      byFunctions(scene, {}, () => watching(scene, (watched) => course(watched, record, plan, {}))),
    );
  },
});
