/**
 * `npm run bench -- gang`: gangs that start by plans, on the real scheduler and 100 nodes without kubelets: time until all
 * pods are bound, the host's processor time, and its requests. The floor is the same pods, created without gangs.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { openAudit, type Request, tableOf, withFlags } from "../real/cluster/audit.ts";
import { type Cluster, startCluster } from "../real/cluster/cluster.ts";
import { openApi } from "../real/cluster/node/api.ts";
import { build, install, startHost } from "../real/e2e/installed.ts";
import { ensure } from "../real/setup/ensure.ts";
import { each } from "../support/parallel.ts";
import type { Figure } from "./figures.ts";
import { node, withoutKubelets } from "./nodes.ts";
import { account } from "./submit.ts";

const nodeCount = 100;
const podsPerGang = 100;
const longestMs = 600_000;
const jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/gangs/jobs";

const amounts = { cpu: "32", memory: "128Gi", pods: "200" };

const podSpec = {
  restartPolicy: "Never",
  containers: [{ name: "c", image: "none", resources: { requests: { cpu: "250m" } } }],
};

const gang = (at: number): object => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name: `gang-${at}`, namespace: "gangs" },
  spec: {
    ...{ schedulerName: "volcano", minAvailable: podsPerGang },
    tasks: [{ name: "w", replicas: podsPerGang, template: { spec: podSpec } }],
  },
});

const barePod = (at: number): object => ({
  ...{ apiVersion: "v1", kind: "Pod", metadata: { name: `pod-${at}`, namespace: "bare" } },
  spec: podSpec,
});

type Posted = { readonly path: string; readonly object: object };

/** Creates the objects, sixteen at a time. */
const createAll = ({ api }: Cluster, all: readonly Posted[]): Promise<void> =>
  each(all, async ({ path, object }) => {
    const { status, body } = await api.call("POST", path, object);
    if (status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(body)}`);
  });

const bindable = z.object({
  metadata: z.object({
    uid: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    deletionTimestamp: z.string().optional(),
  }),
  spec: z.object({ nodeName: z.string().optional() }),
});

type Followed = { metadata: { uid: string; resourceVersion: string } };

/**
 * Follows the pods of a namespace: the number of bound ones, by the name of their Job, and those that are deleted. Without a
 * kubelet, a bound pod stays in its grace period until it is deleted by force.
 */
const watchBinds = async ({ adminKubeconfig }: Cluster, namespace: string) => {
  const api = await openApi(adminKubeconfig);
  const bound = new Map<string, Set<string>>();
  const ending = new Set<string>();
  let [total, gone] = [0, 0];
  const put = (one: Followed): void => {
    const { metadata, spec } = bindable.parse(one);
    if (metadata.deletionTimestamp !== undefined) ending.add(metadata.uid);
    if (spec.nodeName === undefined || spec.nodeName === "") return;
    const name = metadata.labels["volcano.sh/job-name"] ?? "";
    const own = bound.get(name) ?? new Set();
    bound.set(name, own);
    if (own.has(metadata.uid)) return;
    own.add(metadata.uid);
    total += 1;
  };
  const lost = ({ metadata }: Followed): void => {
    ending.add(metadata.uid);
    gone += 1;
  };
  api.follow<Followed>(`/api/v1/namespaces/${namespace}/pods`, {
    ...{ put, gone: lost },
    all: (items) => items.forEach(put),
  });
  return {
    total: () => total,
    gone: () => gone,
    deleted: () => ending.size,
    wholeGangs: () => [...bound.values()].filter(({ size }) => size >= podsPerGang).length,
    close: api.close,
  };
};

const until = async (what: string, holds: () => boolean): Promise<number> => {
  for (const end = performance.now() + longestMs; !holds(); await sleep(20))
    if (performance.now() > end) throw new Error(`not ${what} after ${longestMs / 1_000} s`);
  return performance.now();
};

const isPod = ({ resource }: Request): boolean => resource === "pods";

/** Returns the seconds until bare pods are bound; they are deleted then. */
const bareSeconds = async (cluster: Cluster, count: number): Promise<number> => {
  const pods = "/api/v1/namespaces/bare/pods";
  const binds = await watchBinds(cluster, "bare");
  const began = performance.now();
  const objects = Array.from({ length: count }, (_, at) => ({ path: pods, object: barePod(at) }));
  await createAll(cluster, objects);
  const ended = await until(`${count} bare pods bound`, () => binds.total() >= count);
  // All at once would take the API server longer than a request may last.
  for (const end = performance.now() + longestMs; binds.gone() < count; await sleep(100)) {
    if (performance.now() > end) throw new Error(`${binds.gone()} of ${count} bare pods are deleted`);
    const { status } = await cluster.api.call("DELETE", `${pods}?limit=500`, { gracePeriodSeconds: 0 });
    if (status !== 200) throw new Error(`bare pods are not deleted: ${status}`);
  }
  binds.close();
  return (ended - began) / 1_000;
};

/** Throws when a gang does not start, or not at once; slowness is only reported. */
export const benchGang = async (gangs: number, profile: string | undefined): Promise<readonly Figure[]> => {
  await ensure(["go"]);
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-bench-gang-"));
  const audit = await openAudit(dir, "rekindle");
  const extra = withFlags(withoutKubelets, audit.flags);
  const cluster = await startCluster({ nodes: 0, dir: join(dir, "cluster"), extra });
  // A process that is left would keep the benchmark from ending.
  const closes: (() => void | Promise<void>)[] = [];
  try {
    const kubeconfig = await install(cluster, undefined);
    await cluster.api.until("/apis/batch.volcano.sh/v1alpha1/jobs", ({ status }) => status === 200, 30_000);
    const names = ["gangs", "bare"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
    await createAll(cluster, [
      ...names.map((object) => ({ path: "/api/v1/namespaces", object })),
      ...Array.from({ length: nodeCount }, (_, at) => ({ path: "/api/v1/nodes", object: node(at, amounts) })),
    ]);
    for (const name of ["gangs", "bare"])
      await cluster.api.until(
        `/api/v1/namespaces/${name}/serviceaccounts/default`,
        ({ status }) => status === 200,
        30_000,
      );
    const count = gangs * podsPerGang;
    const floor = await bareSeconds(cluster, count);
    console.log(`${count} bare pods are bound after ${floor.toFixed(1)} s`);
    const flags = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
    const host = startHost(kubeconfig, join(dir, "host.log"), ["--log-level", "warn", "--gang", "builtin"], flags);
    await sleep(5_000);
    const [before, from] = [await account(host), Date.now()];
    const binds = await watchBinds(cluster, "gangs");
    closes.push(binds.close, () => host.kill());
    const began = performance.now();
    const creating = createAll(
      cluster,
      Array.from({ length: gangs }, (_, at) => ({ path: jobs, object: gang(at) })),
    );
    const first = await until("a gang whole", () => binds.wholeGangs() > 0);
    const last = await until(`${count} pods bound`, () => binds.total() >= count);
    await creating;
    await sleep(5_000);
    const after = await account(host);
    const requests = (await audit.read()).filter(({ at, verb }) => at >= from && verb !== "watch");
    for (const [what, number] of tableOf(requests)) console.log(`  ${String(number).padStart(6)}  ${what}`);
    const created = requests.filter((one) => isPod(one) && one.verb === "create" && one.code === 201).length;
    if (created !== count) throw new Error(`${created} pods were created, not ${count}`);
    if (binds.deleted() > 0) throw new Error(`${binds.deleted()} pods of gangs were deleted`);
    const code = await host.stop();
    closes.pop();
    if (code !== 0) throw new Error(`the host ended with ${code}; its log is in ${dir}`);
    await rm(dir, { recursive: true, force: true });
    const name = `gang.${gangs}x${podsPerGang}`;
    return [
      { name: `${name}.all-bound`, value: (last - began) / 1_000, unit: "s", aim: 1.15 * floor, floor },
      { name: `${name}.first-whole`, value: (first - began) / 1_000, unit: "s" },
      { name: `${name}.host-cpu`, value: after.cpu - before.cpu, unit: "s", aim: 12 },
      { name: `${name}.host-peak-rss`, value: after.peak, unit: "MiB" },
      { name: `${name}.requests`, value: requests.length, unit: "requests", aim: 1.06 * count },
    ];
  } finally {
    for (const close of closes) await close();
    await cluster.stop();
  }
};
