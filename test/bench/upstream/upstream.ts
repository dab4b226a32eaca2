/**
 * `npm run bench -- upstream`: the load of a benchmark that an upstream operator publishes, such as Spark Operator's of 6,000
 * SparkApplications of a driver and five executors, created as fast as the server takes them. The host is built and has the
 * shipped service account; API server and audit log are real; `standins.ts` replaces nodes and Spark.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../../real/cluster/api.ts";
import { type Audit, openAudit, tableOf, withFlags } from "../../real/cluster/audit.ts";
import { startCluster } from "../../real/cluster/cluster.ts";
import { build, type HostProcess, install, startHost } from "../../real/e2e/installed.ts";
import { ensure } from "../../real/setup/ensure.ts";
import { each } from "../../support/parallel.ts";
import type { Figure } from "../figures.ts";
import { node, withoutKubelets } from "../nodes.ts";
import { countListed } from "../pages.ts";
import { account } from "../submit.ts";
import { bareSubmissions } from "../submit-floor.ts";
import { type Load, loads } from "./loads.ts";

const workMs = 2_000;
/** So few because the scheduler looks at each of up to 100 nodes for each pod, and takes its time from the same processors. */
const nodeCount = 40;
/** All pods of 6,000 applications have room at once. */
const amounts = { cpu: "1000", memory: "2Ti", pods: "1000" };
/** Two processors took 20 minutes; after twice the time something hangs. */
const longestMs = 2_400_000;
/**
 * Without the controllers of endpoints: nothing connects to the Services, and for each change of a Service or of its pod these
 * controllers look through all pods of the namespace, so that 6,000 applications would keep a processor busy with this alone.
 */
const withoutEndpoints = {
  "kube-controller-manager": [
    "--controllers=-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller",
  ],
};
const nameOf = (index: number): string => `bench-${index + 1}`;

const createAll = (api: Api, { path, manifest, sample }: Load, count: number): Promise<void> =>
  each(
    Array.from({ length: count }, (_, index) => index),
    async (index) => {
      const reply = await api.call("POST", path, manifest(nameOf(index), index < sample));
      if (reply.status !== 201) throw new Error(`create ${nameOf(index)}: ${JSON.stringify(reply.body)}`);
    },
  );

const createNodes = (api: Api): Promise<void> =>
  each(
    Array.from({ length: nodeCount }, (_, at) => node(at, amounts)),
    async (one) => {
      const reply = await api.call("POST", "/api/v1/nodes", one);
      if (reply.status !== 201) throw new Error(`create a node: ${JSON.stringify(reply.body)}`);
    },
  );

type StandIns = { readonly child: ChildProcess; readonly ended: () => number };

const startStandIns = (kubeconfig: string, { nameLabel, executors }: Load): StandIns => {
  const args = [kubeconfig, nameLabel, String(executors), String(workMs)];
  const child = fork(join(import.meta.dirname, "standins.ts"), args);
  let ended = 0;
  child.on("message", (count) => {
    ended = Number(count);
  });
  return { child, ended: () => ended };
};

/** Resolves when every driver has ended and every application shows it. */
const allCompleted = async (
  api: Api,
  { path, isOver }: Load,
  host: HostProcess,
  ended: () => number,
  count: number,
): Promise<void> => {
  for (const end = performance.now() + longestMs; ; await sleep(2_000)) {
    if (ended() === count && (await countListed(api, path, isOver)) === count) return;
    if (host.exited()) throw new Error("the host ended");
    if (performance.now() > end)
      throw new Error(`${ended()} of ${count} drivers ended in ${longestMs / 60_000} minutes`);
    process.stderr.write(`${ended()} drivers have ended\n`);
  }
};

/** Returns the arrival of each application's POST of its driver, ms after `from`; throws if one was created twice. */
const driverPosts = async (
  audit: Audit,
  { driverName }: Load,
  from: number,
  count: number,
): Promise<readonly number[]> => {
  const found = new Map<string, number>();
  for (const { verb, resource, name, code, at } of await audit.read()) {
    if (verb !== "create" || resource !== "pods" || code !== 201) continue;
    if (found.has(name)) throw new Error(`${name} was created twice`);
    found.set(name, at - from);
  }
  const posts = Array.from({ length: count }, (_, index) => found.get(driverName(nameOf(index))) ?? Number.NaN);
  if (posts.some(Number.isNaN)) throw new Error(`${found.size} drivers were created, not ${count}`);
  return posts;
};

/**
 * Returns the latest driver in relation to its turn: the time at which it would have come if all came in the order of
 * their applications and at one pace. The first twentieth does not count.
 */
export const latestOf = (posts: readonly number[]): number => {
  const pace = Math.max(...posts) / posts.length;
  return Math.max(...posts.map((at, index) => (index < posts.length / 20 ? 0 : at / ((index + 1) * pace))));
};

type Measured = {
  readonly count: number;
  readonly load: Load;
  /** Before each figure's name. */
  readonly of: string;
  /** The arrival of each driver's POST, ms. */
  readonly posts: readonly number[];
  /** Seconds until all applications were over. */
  readonly seconds: number;
  /** Seconds of bare requests for one application. */
  readonly floor: number;
  /** Peak size in MiB, and CPU seconds. */
  readonly host: { readonly peak: number; readonly cpu: number };
  readonly requests: number;
};

const figuresOf = ({ count, load, of, posts, seconds, floor, host, requests }: Measured): readonly Figure[] => {
  const minutes = Math.max(...posts) / 60_000;
  return [
    {
      ...{ name: `${of}.${count}.until-all-drivers`, value: 60 * minutes, unit: "s" },
      ...{ aim: (count * load.aimMs) / 1_000, floor: floor * count },
    },
    { name: `${of}.${count}.drivers-a-minute`, value: count / minutes, unit: "drivers" },
    { name: `${of}.${count}.bare-drivers-a-minute`, value: 60 / floor, unit: "drivers" },
    { name: `${of}.${count}.until-all-completed`, value: seconds, unit: "s" },
    { name: `${of}.${count}.latest-over-its-turn`, value: latestOf(posts), unit: "times", aim: 2 },
    { name: `${of}.${count}.host-peak-rss`, value: host.peak, unit: "MiB", aim: 400 },
    { name: `${of}.host-cpu-per-application`, value: (host.cpu * 1_000) / count, unit: "ms" },
    { name: `${of}.api-requests-per-application`, value: requests / count, unit: "requests" },
  ];
};

type Wanted = {
  readonly count: number;
  readonly family: string;
  /** Of the host's Node.js. */
  readonly nodeFlags: readonly string[];
};
/** Throws when work was wrong or missing; slowness is only reported. */
export const benchUpstream = async ({ count, family, nodeFlags }: Wanted): Promise<readonly Figure[]> => {
  const load = loads[family];
  if (load === undefined) throw new Error(`--family ${family}: one of ${Object.keys(loads).join(", ")}`);
  await ensure(["go"]);
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-upstream-"));
  const audit = await openAudit(dir, "rekindle", "rekindle");
  const cluster = await startCluster({
    nodes: 0,
    dir: join(dir, "cluster"),
    extra: withFlags(withoutKubelets, withFlags(withoutEndpoints, audit.flags)),
  });
  const { api } = cluster;
  await createNodes(api);
  const { child, ended } = startStandIns(cluster.adminKubeconfig, load);
  try {
    const kubeconfig = await install(cluster, undefined, undefined, load.kinds);
    const kinds = load.kinds === undefined ? [] : ["--families", load.kinds.join(",")];
    const host = startHost(kubeconfig, join(dir, "host.log"), ["--log-level", "warn", ...kinds], nodeFlags);
    await sleep(5_000);
    const [before, from] = [await account(host), Date.now()];
    const creating = createAll(api, load, count);
    await Promise.all([creating, allCompleted(api, load, host, ended, count)]);
    const seconds = (Date.now() - from) / 1_000;
    const after = await account(host);
    const requests = (await audit.read()).filter(({ at }) => at >= from);
    console.log("API requests by verb");
    for (const [what, times] of tableOf(requests)) console.log(`  ${String(times).padStart(6)}  ${what}`);
    const posts = await driverPosts(audit, load, from, count);
    if ((await host.stop()) !== 0) throw new Error(`the host did not end well; its log is in ${dir}`);
    child.kill();
    const few = Math.min(load.sample, count);
    const floor = (await bareSubmissions(api, load.path, few)) / few;
    await rm(dir, { recursive: true, force: true });
    return figuresOf({
      ...{ count, load, posts, seconds, floor, requests: requests.length },
      of: family === "spark" ? "upstream" : `upstream.${family}`,
      host: { peak: after.peak, cpu: after.cpu - before.cpu },
    });
  } finally {
    child.kill();
    await cluster.stop();
  }
};
