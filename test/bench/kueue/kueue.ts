/**
 * `npm run bench -- kueue`: applications whose executors follow a demand within the quota of a real Kueue, on a real API
 * server with the built host under the shipped account; drivers, executors and kubelet are stand-ins. Beside them on the
 * same Kueue, with as much quota and the same demand, drivers that create their executors themselves, held back by Kueue's
 * integration of pods; and what as many fixed executors would have served.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Audit, openAudit, type Request } from "../../real/cluster/audit.ts";
import { type Cluster, startCluster } from "../../real/cluster/cluster.ts";
import { bridgeAddress, enterNamespace, isInside } from "../../real/cluster/netns.ts";
import { build, type HostProcess, install, startHost } from "../../real/e2e/installed.ts";
import { startKueue } from "../../real/e2e/kueue/controller.ts";
import { createQueues } from "../../real/e2e/kueue/queues.ts";
import { openQuotaRecord, type QuotaRecord } from "../../real/e2e/kueue/quota-record.ts";
import { read } from "../../real/e2e/witness.ts";
import { ensure } from "../../real/setup/ensure.ts";
import { each } from "../../support/parallel.ts";
import { sparkPi } from "../../support/pi.ts";
import type { Figure } from "../figures.ts";
import { collection } from "../kubelet.ts";
import { openStandIns, type StandIns } from "../recovery/standins.ts";
import { account } from "../submit.ts";
import { type Course, coursesOf, levelAt } from "./demand.ts";
import { grantsIn, timeFigures } from "./grants.ts";
import { openHeldFleet } from "./held.ts";
import { type Sample, servedShare, unusedShare, withFixed } from "./samples.ts";

const applications = 20;
const quota = 100;
const courseMs = 180_000;
/** Spark's default is a minute; the course is short. */
const idleMs = 5_000;
const sampleMs = 250;
/** Hosts ask a driver at least once in five seconds, counted from its last step: the steps of the start are over by then. */
const restMs = 10_000;
/** The fleets begin at the start of the course, which no sample has. */
const beginningMs = 20_000;

const nameOf = (at: number): string => `shares-${at + 1}`;
const names = Array.from({ length: applications }, (_, at) => nameOf(at));

const dynamic = "spark.dynamicAllocation";

const application = (name: string, queue: string): object => {
  const body = sparkPi(name, {
    driver: { cores: 1, coreRequest: "1", memory: "512m", serviceAccount: "spark" },
    executor: { instances: 1, cores: 1, coreRequest: "1", memory: "512m" },
    sparkConf: {
      "spark.kubernetes.scheduler.name": "none",
      [`${dynamic}.enabled`]: "true",
      [`${dynamic}.minExecutors`]: "1",
      [`${dynamic}.executorIdleTimeout`]: `${idleMs / 1_000}s`,
    },
  });
  const labels = { "kueue.x-k8s.io/queue-name": queue };
  return { ...body, metadata: { ...body.metadata, labels, annotations: { "rekindle.dev/executors": "own" } } };
};

/** The demand in the time of the course, which begins once every application runs. */
const openDemand = (courses: readonly Course[]) => {
  let began = Number.NaN;
  const byName = new Map(courses.map((course, at) => [nameOf(at), course]));
  const of = (name: string, at: number): number => {
    const course = byName.get(name);
    return course === undefined || Number.isNaN(began) ? 1 : levelAt(course, at - began).executors;
  };
  return {
    begin: (): void => {
      began = performance.now();
    },
    now: (name: string): number => of(name, performance.now()),
    /** The instant since when the level of that instant has stood, epoch ms. */
    since: (name: string, at: number): number => {
      const start = performance.timeOrigin + began;
      return start + levelAt(byName.get(name) ?? [], at - start).fromMs;
    },
  };
};

type Demand = ReturnType<typeof openDemand>;

type Bench = {
  readonly cluster: Cluster;
  readonly audit: Audit;
  readonly standIns: StandIns;
  readonly record: QuotaRecord;
  readonly demand: Demand;
  readonly changes: number;
};

const created = async ({ cluster, standIns }: Bench): Promise<void> => {
  await each(names, async (name) => {
    const { status, body } = await cluster.api.call("POST", collection, application(name, "own"));
    if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`);
  });
  for (
    const until = performance.now() + 120_000;
    names.some((name) => standIns.running(name).length === 0);
    await sleep(200)
  )
    if (performance.now() > until) throw new Error("some application has no executor after two minutes");
};

type Running = (name: string) => number;

/** Takes samples of both fleets during the course. */
const sampled = async ({ demand }: Bench, own: Running, held: Running) => {
  const [ownSamples, heldSamples] = [[] as Sample[], [] as Sample[]];
  for (const until = performance.now() + courseMs - beginningMs; performance.now() < until; await sleep(sampleMs)) {
    const needed = names.map(demand.now);
    ownSamples.push({ needed, there: names.map(own) });
    heldSamples.push({ needed, there: names.map(held) });
  }
  return { own: ownSamples, held: heldSamples };
};

/** Throws where an executor ever lived beyond the quota of its application. */
const judged = async ({ cluster, record }: Bench): Promise<number> => {
  const judgements = await Promise.all(
    names.map(async (name) => ({ name, ...record.of((await read(cluster.api, name)).metadata.uid) })),
  );
  for (const { name, faults } of judgements)
    if (faults.length > 0) throw new Error(`${name}: ${faults.slice(0, 3).join("; ")}`);
  return judgements.reduce((sum, { growths }) => sum + growths, 0);
};

const shareFigures = (own: readonly Sample[], held: readonly Sample[]): readonly Figure[] => {
  const fixed = withFixed(own, quota / applications);
  const share = (name: string, value: number, aim?: number): Figure => ({
    ...{ name: `kueue.${name}`, value, unit: "%" },
    ...(aim === undefined ? {} : { aim }),
  });
  return [
    share("quota-unused-while-demand-exists", unusedShare(own, quota), 5),
    share("quota-unused-while-demand-exists.by-the-driver", unusedShare(held, quota)),
    share("demand-unserved", 100 - servedShare(own, quota)),
    share("demand-unserved.by-the-driver", 100 - servedShare(held, quota)),
    share("demand-unserved.fixed-executors", 100 - servedShare(fixed, quota)),
  ];
};

const workFigures = (bench: Bench, requests: readonly Request[], cpu: number): readonly Figure[] => [
  { name: "kueue.api-requests-per-change-of-demand", value: requests.length / bench.changes, unit: "requests" },
  { name: "kueue.host-cpu-per-change-of-demand", value: (cpu * 1_000) / bench.changes, unit: "ms" },
];

const measured = async (bench: Bench, host: HostProcess): Promise<readonly Figure[]> => {
  const { cluster, standIns, demand, audit } = bench;
  await created(bench);
  const { adminKubeconfig: kubeconfig } = cluster;
  const drivers = { kubeconfig, address: bridgeAddress, queue: "held", apps: names, needs: demand.now, idleMs };
  const grants = await grantsIn(kubeconfig);
  const fleet = await openHeldFleet(drivers);
  try {
    await sleep(restMs);
    demand.begin();
    await sleep(beginningMs);
    const [before, began] = [await account(host), Date.now()];
    const samples = await sampled(bench, (name) => standIns.running(name).length, fleet.running);
    const { cpu } = await account(host);
    const requests = (await audit.read()).filter(({ at }) => at >= began);
    const growths = await judged(bench);
    return [
      ...shareFigures(samples.own, samples.held),
      ...timeFigures(grants.read(), demand.since),
      ...workFigures(bench, requests, cpu - before.cpu),
      { name: "kueue.growths-admitted", value: growths, unit: "growths" },
    ];
  } finally {
    grants.stop();
    await fleet.stop();
  }
};

const says = [
  `${applications} applications share a quota of ${quota} executors for ${courseMs / 1_000} s; each level of demand stands for one to four minutes; idle timeout ${idleMs / 1_000} s`,
  "POST: the pod's creationTimestamp is too coarse, so the instant at which a watch shows the executor; likewise for Workloads",
] as const;

const withKueue = async (cluster: Cluster, work: (record: QuotaRecord) => Promise<readonly Figure[]>) => {
  const kueue = await startKueue(cluster, ["pod"]);
  if (kueue === undefined) throw new Error("Kueue's controller is missing: npm run setup -- kueue");
  const record = await openQuotaRecord(cluster.adminKubeconfig);
  try {
    await cluster.api.call("POST", "/api/v1/namespaces", { metadata: { name: "held" } });
    // The drivers of the first fleet are admitted with their first executor.
    await createQueues(cluster, "own", { own: quota + applications });
    await createQueues(cluster, "held", { held: quota }, "held");
    await cluster.api.until("/api/v1/namespaces/held/serviceaccounts/default", ({ status }) => status === 200, 20_000);
    return await work(record);
  } finally {
    record.stop();
    await kueue.stop();
  }
};

/** Throws when an executor lives without quota; slowness is only reported. */
export const benchKueue = async (): Promise<readonly Figure[]> => {
  if (!isInside()) {
    await ensure(["system", "go", "kueue"]);
    await build();
  }
  await enterNamespace();
  for (const line of says) console.log(line);
  const dir = await mkdtemp(join(tmpdir(), "rekindle-bench-kueue-"));
  const audit = await openAudit(dir, "rekindle", "rekindle");
  const cluster = await startCluster({ nodes: 0, dir: join(dir, "cluster"), extra: audit.flags });
  const courses = coursesOf(applications, courseMs);
  const changes = courses.flat().filter(({ fromMs }) => fromMs >= beginningMs && fromMs < courseMs).length;
  const demand = openDemand(courses);
  const ways = { slow: "", startMs: 0, needs: demand.now };
  const standIns = await openStandIns(cluster.adminKubeconfig, bridgeAddress, ways);
  try {
    const kubeconfig = await install(cluster, undefined);
    const figures = await withKueue(cluster, async (record) => {
      const host = startHost(kubeconfig, join(dir, "host.log"), ["--log-level", "warn"]);
      try {
        return await measured({ cluster, audit, standIns, record, demand, changes }, host);
      } finally {
        await host.stop();
      }
    });
    await rm(dir, { recursive: true, force: true });
    return figures;
  } finally {
    await standIns.stop();
    await cluster.stop();
  }
};
