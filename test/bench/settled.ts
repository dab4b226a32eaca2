/**
 * `npm run bench -- settled`: a host that starts beside many completed SparkApplications, and then rests. One of them
 * lives on a real API server under a first host; the others are copies of it and of its record in etcd. Measured from
 * outside: the host's figures in /proc, its liveness probe, the API server's counts of its requests.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { sealOf } from "../../shared/adapters/checkpoints/kubernetes.ts";
import { type HostUnderAttack, openHost } from "../proof/attack/host.ts";
import type { Api } from "../real/cluster/api.ts";
import { type Audit, openAudit, tableOf } from "../real/cluster/audit.ts";
import { type Cluster, startCluster } from "../real/cluster/cluster.ts";
import { build, install } from "../real/e2e/installed.ts";
import { ensure } from "../real/setup/ensure.ts";
import { copied, type Pair, stored, urlOfEtcd } from "./etcd.ts";
import type { Figure } from "./figures.ts";
import { countFlow, dispatched, writing } from "./flow.ts";
import { live } from "./kubelet.ts";
import { countListed, countOf } from "./pages.ts";
import { quiet, writesSince } from "./restart.ts";
import { account, applications } from "./submit.ts";

const model = "settled-model";
const records = "/apis/rekindle.dev/v1alpha1/namespaces/default/checkpoints";
/** Each copy has a name and a UID of the same length as the model's. */
const nameOf = (index: number): string => `settled-${String(index).padStart(model.length - "settled-".length, "0")}`;

const usualCount = 10_000;
const restSeconds = 30;
const longestSeconds = 900;
/** A host that has written nothing and read little for this long has started: it has no application whose timer could come. */
const startedSeconds = 8;
/** A server whose etcd has just taken very many objects lists them slowly. */
const readyMs = 300_000;

const named = z.object({ metadata: z.looseObject({ name: z.string(), uid: z.string() }) });

/** Lets one application live to its end. Returns the pairs of its objects, whose copies are settled, too. */
const settledModel = async ({ cluster, kubeconfig, dir }: Bench): Promise<readonly Pair[]> => {
  const { api } = cluster;
  const log = join(dir, "model.log");
  const host = await openHost(kubeconfig, log, ["--log-level", "warn"]);
  await api.until(applications, ({ status }) => status === 200, 20_000);
  await live(api, model, { executors: 0, losses: 0, paceMs: 1_000 });
  // The copies have no pods, so the model has none when it settles.
  await api.call("DELETE", `/api/v1/namespaces/default/pods/${model}-driver`, { gracePeriodSeconds: 0 });
  await quiet(api);
  if ((await host.stop()) !== 0) throw new Error(`the host did not end well; its log is ${log}`);
  const record = `sparkapplication.${model}`;
  const url = urlOfEtcd(cluster.pids["etcd"] ?? 0);
  return [
    await stored(url, `/registry/sparkoperator.k8s.io/sparkapplications/default/${model}`),
    await stored(url, `/registry/rekindle.dev/checkpoints/default/${record}`),
  ];
};

const sealed = z.looseObject({
  metadata: z.looseObject({ annotations: z.record(z.string(), z.string()) }),
  spec: z.record(z.string(), z.unknown()),
});

/** Returns a stored record with the seal of its own text; other objects stay as they are. */
const resealed = ({ key, value }: Pair): Pair => {
  const { success, data } = sealed.safeParse(JSON.parse(value));
  if (!success || data.metadata.annotations["rekindle.dev/seal"] === undefined) return { key, value };
  const { metadata, spec } = data;
  const annotations = { ...metadata.annotations, "rekindle.dev/seal": sealOf(spec) };
  return { key, value: JSON.stringify({ ...data, metadata: { ...metadata, annotations } }) };
};

/** Adds copies to the first `there` until there are `count`. */
const copyModel = async (cluster: Cluster, pairs: readonly Pair[], there: number, count: number): Promise<void> => {
  const { body } = await cluster.api.call("GET", `${applications}/${model}`);
  const { uid } = named.parse(body).metadata;
  const copyOf = (index: number): readonly Pair[] => {
    const own = randomUUID();
    const copy = (text: string): string => text.replaceAll(model, nameOf(there + index)).replaceAll(uid, own);
    return pairs.map(({ key, value }) => resealed({ key: copy(key), value: copy(value) }));
  };
  await copied(urlOfEtcd(cluster.pids["etcd"] ?? 0), count - there, copyOf);
};

/** Prints the progress, with the seconds since the process began. */
const tell = (text: string): void =>
  void process.stderr.write(`${(performance.now() / 1_000).toFixed(0)} s: ${text}\n`);

const listed = (api: Api, path: string): Promise<number> => countListed(api, path, () => true);

/**
 * Resolves when the server has all copies of a collection: those of one request have one revision, and its cache takes
 * them one by one. A server whose etcd has just taken very many refuses lists for some seconds.
 */
const allListed = async (api: Api, path: string, count: number): Promise<void> => {
  for (const end = performance.now() + 120_000; ; await sleep(1_000)) {
    const found = await countOf(api, path).catch((refused: Error) => refused);
    if (typeof found === "number" && found >= count) return;
    if (performance.now() > end) throw new Error(`${path} has not ${count} objects after two minutes: ${found}`);
  }
};

/** Lists what a host at least must know: applications and records, in pages. Returns this process's CPU seconds. */
const listingOnly = async (api: Api, count: number): Promise<number> => {
  const before = process.cpuUsage();
  const [found, kept] = [await listed(api, applications), await listed(api, records)];
  const { user, system } = process.cpuUsage(before);
  if (count > 0 && (found !== count + 1 || kept < count))
    throw new Error(`${found} applications and ${kept} records are listed, not ${count + 1}`);
  return (user + system) / 1e6;
};

/** Returns the CPU seconds of a process so far, to the nanosecond: the kernel's other count is in hundredths of a second. */
const preciseSeconds = async (pid: number): Promise<number> => {
  const tasks = await readdir(`/proc/${pid}/task`);
  const texts = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/schedstat`, "utf8")));
  return texts.reduce((sum, text) => sum + Number(text.split(" ")[0]), 0) / 1e9;
};

/** Returns the CPU seconds that a host takes in a minute in which nothing happens, and its resident size then, MiB. */
const atRest = async (host: HostUnderAttack): Promise<{ readonly cpu: number; readonly resident: number }> => {
  // The probe's requests would cost the host processor time.
  await host.probe.stop();
  await sleep(2_000);
  const before = await preciseSeconds(host.pid);
  await sleep(restSeconds * 1_000);
  const cpu = (await preciseSeconds(host.pid)) - before;
  return { cpu: (cpu * 60) / restSeconds, resident: (await account(host)).resident };
};

type Aims = { readonly cpu: number; readonly peak: number; readonly resident: number };

const emptyAims: Aims = { cpu: 0.6, peak: 64, resident: 64 };
const usualAims: Aims = { cpu: 20, peak: 195, resident: 160 };
const manyAims: Aims = { cpu: 120, peak: 512, resident: 512 };

type Bench = {
  readonly cluster: Cluster;
  readonly audit: Audit;
  readonly kubeconfig: string;
  readonly dir: string;
  /** Flags of a measured host's Node.js. */
  readonly nodeFlags: readonly string[];
};

const measured = async ({ cluster, audit, kubeconfig, dir, nodeFlags }: Bench, count: number, aims: Aims) => {
  const { api } = cluster;
  const log = join(dir, `${count}.log`);
  for (const path of [applications, records]) await allListed(api, path, count);
  tell("the server has all copies");
  const floor = await listingOnly(api, count);
  tell("the floor is measured");
  const [asked, since] = [await dispatched(api), Date.now()];
  const host = await openHost(kubeconfig, log, ["--log-level", "warn"], { node: nodeFlags, readyMs });
  try {
    await quiet(api, longestSeconds, startedSeconds);
    tell("the host has started");
    const { cpu, peak } = await account(host);
    const block = host.probe.longestSince(since);
    const reads = (await dispatched(api)) - asked;
    const rest = await atRest(host);
    tell("the host has rested");
    const requests = (await audit.read()).filter(({ at }) => at >= since);
    console.log(`settled.${count}: API requests by verb`);
    for (const [what, times] of tableOf(requests)) console.log(`  ${String(times).padStart(6)}  ${what}`);
    // The first host of a cluster creates its queues.
    const writes = await writesSince(audit, since, count > 0 ? 0 : Number.POSITIVE_INFINITY);
    const name = `settled.${count}`;
    const figures: readonly Figure[] = [
      { name: `${name}.start.writes`, value: writes, unit: "writes", ...(count > 0 ? { aim: 0 } : {}) },
      { name: `${name}.start.host-cpu`, value: cpu, unit: "s", aim: aims.cpu, floor },
      { name: `${name}.start.host-peak-rss`, value: peak, unit: "MiB", aim: aims.peak },
      { name: `${name}.start.longest-block`, value: block, unit: "ms", aim: 100 },
      { name: `${name}.start.reads`, value: reads, unit: "requests" },
      { name: `${name}.rest.host-cpu-a-minute`, value: rest.cpu, unit: "s", aim: 0.1 },
      { name: `${name}.rest.host-rss`, value: rest.resident, unit: "MiB", aim: aims.resident },
    ];
    if ((await host.stop()) !== 0) throw new Error(`the host did not end well; its log is ${log}`);
    return figures;
  } finally {
    await host.kill();
  }
};

/**
 * Throws when anything was written, since nothing had changed. `counts`: ascending; 0 alone: an empty cluster. `nodeFlags`: of
 * the measured hosts' Node.js.
 */
export const benchSettled = async (
  counts: readonly number[],
  nodeFlags: readonly string[],
): Promise<readonly Figure[]> => {
  await ensure(["go"]);
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-settled-"));
  const audit = await openAudit(join(dir, "audit"), "rekindle", "rekindle");
  const cluster = await startCluster({ nodes: 0, dir: join(dir, "cluster"), extra: audit.flags });
  try {
    const kubeconfig = await install(cluster, undefined);
    await countFlow(cluster.api);
    await countFlow(cluster.api, writing);
    await cluster.api.until(applications, ({ status }) => status === 200, 20_000);
    const bench = { cluster, audit, kubeconfig, dir, nodeFlags };
    // Beside very many alone, the empty cluster is left to the usual count.
    const figures = counts.every((count) => count > usualCount) ? [] : [...(await measured(bench, 0, emptyAims))];
    if (counts.every((count) => count === 0)) return figures;
    const model = await settledModel(bench);
    tell("one application has settled");
    for (const [index, count] of counts.entries()) {
      await copyModel(cluster, model, counts[index - 1] ?? 0, count);
      tell("it is copied");
      figures.push(...(await measured(bench, count, count > usualCount ? manyAims : usualAims)));
    }
    return figures;
  } finally {
    await cluster.stop();
  }
};
