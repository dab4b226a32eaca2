/**
 * `npm run bench -- job`: the cost of Jobs for the host on a real API server, under the shipped service account and
 * without webhooks: a thousand pods of one job, five hundred jobs of one pod, a thousand pods restarted, one pod
 * replaced, and a changed spec. `standins/run.ts` replaces kubelets and scheduler; times and requests come from the API
 * server's audit log.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { type Audit, openAudit, type Request, tableOf } from "../../real/cluster/audit.ts";
import { type Cluster, startCluster } from "../../real/cluster/cluster.ts";
import { build, type HostProcess, install, startHost } from "../../real/e2e/installed.ts";
import { type Book, openBook } from "../../real/e2e/volcano/book.ts";
import { ensure } from "../../real/setup/ensure.ts";
import { each } from "../../support/parallel.ts";
import { firstQueues } from "../../support/standins.ts";
import { type Figure, figureLine, quantile } from "../figures.ts";
import { account } from "../submit.ts";
import { bareJobs, barePods, bareReplacements, founded } from "./floor.ts";
import { awaited, startStandIn } from "./stage.ts";

const jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
const pods = "/api/v1/namespaces/default/pods";
const groups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
const configMaps = "/api/v1/namespaces/default/configmaps";
const queues = "/apis/scheduling.volcano.sh/v1beta1/queues";
const merge = "application/merge-patch+json";

/** The values of the host's flag --gang. */
export type Gang = "scheduler" | "none";

export type Ordered = {
  /** Pods of the one job; the number of jobs with one pod is half of it. */
  readonly count: number;
  readonly gang: Gang;
  /** `one`, `many`, `single` or `resize`; absent: all parts. */
  readonly part: string | undefined;
  /** Folder of the hosts' CPU profiles. */
  readonly profile: string | undefined;
};

const letters: Readonly<Record<Gang, string>> = {
  scheduler: "groups are let in by a process that stands in for Volcano's scheduler",
  none: "groups are let in by the host itself",
};

type Bench = {
  readonly cluster: Cluster;
  readonly audit: Audit;
  readonly book: Book;
  readonly kubeconfig: string;
  readonly dir: string;
  readonly asked: Ordered;
};

/** Returns a job with one small container, and only these plugins. */
const job = (name: string, replicas: number, action: string, plugins: object = {}): object => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "default" },
  spec: {
    schedulerName: "volcano",
    minAvailable: replicas,
    maxRetry: 10_000,
    plugins,
    policies: [{ event: "PodFailed", action }],
    tasks: [
      {
        name: "w",
        replicas,
        template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "none" }] } },
      },
    ],
  },
});

const must = async ({ cluster }: Bench, method: string, path: string, body?: unknown, type?: string): Promise<void> => {
  const reply = await cluster.api.call(method, path, body, type);
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`);
};

const isUp = ({ book }: Bench, name: string, count: number, version: number): boolean => {
  const status = book.of("default", name).last?.status;
  return status?.state.phase === "Running" && status.running === count && status.version === version;
};

const failing = {
  phase: "Failed",
  containerStatuses: [
    {
      name: "c",
      image: "none",
      imageID: "",
      restartCount: 0,
      ready: false,
      state: { terminated: { exitCode: 3, reason: "Error" } },
    },
  ],
};

/** Writes the failed status of a pod; resolves with the epoch ms after the write. */
const failed = async (bench: Bench, pod: string): Promise<number> => {
  await must(bench, "PATCH", `${pods}/${pod}/status`, { status: failing }, merge);
  return Date.now();
};

type Measured = { readonly asked: readonly Request[]; readonly cpu: number; readonly peak: number };

/** Measures the host during the work, and until it has no work left. */
const metered = async (
  { audit }: Bench,
  host: HostProcess,
  work: () => Promise<void>,
): Promise<Measured & { readonly from: number }> => {
  const [before, from] = [await account(host), Date.now()];
  await work();
  await sleep(3_000);
  const after = await account(host);
  const asked = (await audit.read()).filter(({ at, verb }) => at >= from && verb !== "watch");
  return { asked, cpu: after.cpu - before.cpu, peak: after.peak, from };
};

const isPodPost = ({ verb, resource, code }: Request): boolean =>
  verb === "create" && resource === "pods" && code === 201;

const tellRequests = (name: string, { asked }: Measured): void => {
  console.log(`${name}: API requests by verb`);
  for (const [what, count] of tableOf(asked)) console.log(`  ${String(count).padStart(6)}  ${what}`);
};

/** Returns the instant of the last creation, epoch ms; throws unless exactly `count` pods were created. */
const lastPost = ({ asked }: Measured, count: number): number => {
  const posts = asked.filter(isPodPost);
  if (posts.length !== count) throw new Error(`${posts.length} pods were made, not ${count}`);
  return Math.max(...posts.map(({ at }) => at));
};

/** `floor`: seconds of the same creations by bare requests. */
type Aims = Readonly<Record<"created" | "running" | "cpu" | "requests" | "floor", number>>;

const figuresOf = (name: string, measured: Measured & { from: number }, up: number, count: number, aims: Aims) => {
  tellRequests(name, measured);
  const seconds = (at: number): number => (at - measured.from) / 1_000;
  return [
    {
      name: `${name}.all-created`,
      value: seconds(lastPost(measured, count)),
      unit: "s",
      aim: aims.created,
      floor: aims.floor,
    },
    { name: `${name}.all-Running`, value: seconds(up), unit: "s", aim: aims.running },
    { name: `${name}.host-cpu`, value: measured.cpu, unit: "s", aim: aims.cpu },
    { name: `${name}.host-peak-rss`, value: measured.peak, unit: "MiB", aim: 178 },
    { name: `${name}.requests`, value: measured.asked.length, unit: "requests", aim: aims.requests },
  ];
};

/** Creates a job of `count` pods, and restarts all of them. */
const oneJob = async (bench: Bench, host: HostProcess, count: number): Promise<readonly Figure[]> => {
  let up = 0;
  const bare = await barePods(bench.cluster.api, count);
  const made = await metered(bench, host, async () => {
    await must(bench, "POST", jobs, job("big", count, "RestartJob"));
    up = await awaited(`${count} pods Running`, () => isUp(bench, "big", count, 0));
  });
  const firstAims = { created: 1.2 * bare.made, running: 8.6, cpu: 1, requests: 1_050, floor: bare.made };
  const first = figuresOf(`job.1x${count}`, made, up, count, firstAims);
  const again = await metered(bench, host, async () => {
    await failed(bench, "big-w-0");
    up = await awaited(`${count} pods Running again`, () => isUp(bench, "big", count, 1));
  });
  const aims = { created: 1.2 * bare.again, running: 18.9, cpu: 8, requests: 3_221, floor: bare.again };
  return [...first, ...figuresOf(`job.restart-of-${count}`, again, up, count, aims)];
};

const manyJobs = async (bench: Bench, host: HostProcess, count: number): Promise<readonly Figure[]> => {
  let up = 0;
  const names = Array.from({ length: count }, (_, index) => `small-${index + 1}`);
  const floor = await bareJobs(bench.cluster.api, count);
  const measured = await metered(bench, host, async () => {
    await each(names, (name) => must(bench, "POST", jobs, job(name, 1, "RestartJob")));
    up = await awaited(`${count} jobs Running`, () => names.every((name) => isUp(bench, name, 1, 0)));
  });
  const aims = { created: 6, running: 8, cpu: 2, requests: 4.2 * count, floor };
  return figuresOf(`job.${count}x1`, measured, up, count, aims);
};

const replacements = 50;

/** RestartPod: measures from the visible failure to the POST of the replacement. */
const singles = async (bench: Bench, host: HostProcess): Promise<readonly Figure[]> => {
  const bare = await bareReplacements(bench.cluster.api, replacements);
  await must(bench, "POST", jobs, job("one", 10, "RestartPod"));
  await awaited("ten pods Running", () => isUp(bench, "one", 10, 0));
  await sleep(2_000);
  const visible: number[] = [];
  const measured = await metered(bench, host, async () => {
    for (let index = 0; index < replacements; index++) {
      visible.push(await failed(bench, `one-w-${index % 10}`));
      const retries = index + 1;
      await awaited(
        `${retries} replaced`,
        () => isUp(bench, "one", 10, 0) && bench.book.of("default", "one").last?.status?.retryCount === retries,
      );
      await sleep(100);
    }
  });
  lastPost(measured, replacements);
  const posts = measured.asked.filter(isPodPost).map(({ at }) => at);
  const took = visible.map((at, index) => (posts[index] ?? Number.NaN) - at);
  tellRequests(`job.failure-to-replacement (${replacements})`, measured);
  const figure = (name: string, part: number, aim: number): Figure => ({
    ...{ name: `job.failure-to-replacement.${name}`, value: quantile(took, part), unit: "ms" },
    ...{ aim, floor: quantile(bare, part) },
  });
  return [
    figure("p50", 0.5, 12),
    figure("p95", 0.95, 20),
    { name: "job.failure-to-replacement.host-cpu", value: (measured.cpu * 1_000) / replacements, unit: "ms" },
    { name: "job.failure-to-replacement.requests", value: measured.asked.length / replacements, unit: "requests" },
  ];
};

const resizes = 50;

/** The lower bound for a changed spec: the record is saved and the ConfigMap written; ms of both, by this process. */
const floor = async (bench: Bench): Promise<readonly number[]> => {
  const of = (name: string, turn: number): object => ({
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" } },
    data: { turn: `${turn}` },
  });
  for (const name of ["floor-record", "floor-svc"]) await must(bench, "POST", configMaps, of(name, 0));
  const took: number[] = [];
  for (let turn = 1; turn <= resizes; turn++) {
    const from = performance.now();
    await must(bench, "PATCH", `${configMaps}/floor-record`, { data: { turn: `${turn}` } }, merge);
    await must(bench, "PUT", `${configMaps}/floor-svc`, of("floor-svc", turn));
    took.push(performance.now() - from);
    await sleep(100);
  }
  return took;
};

const isHostsWrite = ({ verb, resource, name, code }: Request): boolean =>
  (verb === "patch" || verb === "update") && resource === "configmaps" && name === "sized-svc" && code === 200;

const resize = async (bench: Bench, index: number): Promise<number> => {
  const replicas = index % 2 === 0 ? 3 : 2;
  const patch = [{ op: "replace", path: "/spec/tasks/0/replicas", value: replicas }];
  await must(bench, "PATCH", `${jobs}/sized`, patch, "application/json-patch+json");
  return replicas;
};

/** Changes the spec as often again, without a pause. Returns the requests of each change. */
const storm = async (bench: Bench, host: HostProcess): Promise<number> => {
  const { asked } = await metered(bench, host, async () => {
    for (let index = 0; index < resizes; index++) await resize(bench, index);
    await awaited("two pods Running", () => isUp(bench, "sized", 2, 0));
  });
  return asked.length / resizes;
};

/** Measures from a changed number of replicas to the write of the ConfigMap with the hosts. */
const resized = async (bench: Bench, host: HostProcess): Promise<readonly Figure[]> => {
  const bare = await floor(bench);
  await must(bench, "POST", jobs, job("sized", 2, "RestartPod", { svc: [] }));
  await awaited("two pods Running", () => isUp(bench, "sized", 2, 0));
  await sleep(2_000);
  const visible: number[] = [];
  const measured = await metered(bench, host, async () => {
    for (let index = 0; index < resizes; index++) {
      const replicas = await resize(bench, index);
      visible.push(Date.now());
      await awaited(`${replicas} pods Running`, () => isUp(bench, "sized", replicas, 0));
      await sleep(200);
    }
  });
  const writes = measured.asked.filter(isHostsWrite).map(({ at }) => at);
  if (writes.length !== resizes) throw new Error(`the ConfigMap was written ${writes.length} times, not ${resizes}`);
  const took = visible.map((at, index) => (writes[index] ?? Number.NaN) - at);
  tellRequests(`job.spec-to-hosts (${resizes})`, measured);
  const usual = measured.asked.length / resizes;
  const stormy = await storm(bench, host);
  return [
    { name: "job.spec-to-hosts.p50", value: quantile(took, 0.5), unit: "ms", floor: quantile(bare, 0.5) },
    { name: "job.spec-to-hosts.p95", value: quantile(took, 0.95), unit: "ms", aim: 30, floor: quantile(bare, 0.95) },
    { name: "job.spec-to-hosts.requests-a-change", value: usual, unit: "requests" },
    { name: "job.storm-of-specs.requests-a-change", value: stormy, unit: "requests", aim: usual },
  ];
};

const openQueues = async (bench: Bench): Promise<void> => {
  for (const queue of firstQueues) await must(bench, "POST", queues, queue);
};

/**
 * Deletes all jobs with their PodGroups and pods. The garbage collector alone deletes twenty objects a second; more than 500
 * in one request would take the API server longer than a request may last.
 */
const deleted = async ({ cluster: { api } }: Bench): Promise<void> => {
  const items = z.object({ items: z.array(z.unknown()) });
  for (const path of [jobs, groups, pods])
    for (const end = performance.now() + 120_000; ; ) {
      await api.call("DELETE", `${path}?limit=500`, { propagationPolicy: "Background", gracePeriodSeconds: 0 });
      if (items.parse((await api.call("GET", `${path}?limit=1`)).body).items.length === 0) break;
      if (performance.now() > end) throw new Error(`${path} are not deleted after two minutes`);
    }
};

type Part = (bench: Bench, host: HostProcess) => Promise<readonly Figure[]>;

const parts: Readonly<Record<string, Part>> = {
  one: (bench, host) => oneJob(bench, host, bench.asked.count),
  many: (bench, host) => manyJobs(bench, host, bench.asked.count / 2),
  single: singles,
  resize: resized,
};

/** Runs a part with its own host, so that each part has its own peak. */
const measured = async (bench: Bench, part: Part): Promise<readonly Figure[]> => {
  const log = join(bench.dir, "host.log");
  const { gang, profile } = bench.asked;
  const flags = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  const host = startHost(bench.kubeconfig, log, ["--log-level", "warn", "--gang", gang], flags);
  await sleep(5_000);
  const figures = await part(bench, host);
  const code = await host.stop();
  if (code !== 0) throw new Error(`the host ended with ${code}; its log is ${log}`);
  // Reported at once, because a later part may exceed the machine.
  for (const figure of figures) process.stderr.write(`${figureLine(figure)}\n`);
  return figures;
};

/** Throws when work was wrong or missing; slowness is only reported. */
export const benchJob = async (asked: Ordered): Promise<readonly Figure[]> => {
  const { gang, part } = asked;
  const chosen = Object.entries(parts).filter(([name]) => part === undefined || part === name);
  if (chosen.length === 0) throw new Error(`no part ${part}; there are ${Object.keys(parts).join(", ")}`);
  await ensure(["go"]);
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-bench-job-"));
  const audit = await openAudit(dir, "rekindle", "rekindle");
  const cluster = await startCluster({ nodes: 0, dir: join(dir, "cluster"), extra: audit.flags });
  let book: Book | undefined;
  let standIn: ChildProcess | undefined;
  try {
    const kubeconfig = await install(cluster, undefined);
    await cluster.api.until(jobs, ({ status }) => status === 200, 30_000);
    book = await openBook(cluster.adminKubeconfig);
    const bench = { cluster, audit, book, kubeconfig, dir, asked };
    await openQueues(bench);
    await founded(cluster.api);
    standIn = startStandIn(cluster, gang === "scheduler");
    console.log(`--gang ${gang}: ${letters[gang]}; no webhooks`);
    const figures: Figure[] = [];
    for (const [index, [, one]] of chosen.entries()) {
      if (index > 0) await deleted(bench);
      figures.push(...(await measured(bench, one)));
    }
    await rm(dir, { recursive: true, force: true });
    return figures;
  } finally {
    standIn?.kill();
    book?.stop();
    await cluster.stop();
  }
};
