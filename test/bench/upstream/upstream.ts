/**
 * `npm run bench -- upstream`: the load of Spark Operator's published benchmark, 6,000 SparkApplications of a driver and
 * five executors, created as fast as the server takes them. The host is built and has the shipped service account; API
 * server and audit log are real; `standins.ts` replaces nodes and Spark.
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
import { sparkPi } from "../../support/pi.ts";
import type { Figure } from "../figures.ts";
import { node, withoutKubelets } from "../nodes.ts";
import { countListed, stateOf } from "../pages.ts";
import { account, applications } from "../submit.ts";
import { bareSubmissions } from "../submit-floor.ts";

const executors = 5;
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
/** Applications whose objects are created once more by bare requests; the floor of all is in proportion. */
const sample = 500;

const nameOf = (index: number): string => `bench-${index + 1}`;

const createAll = (api: Api, count: number): Promise<void> =>
  each(
    Array.from({ length: count }, (_, index) => nameOf(index)),
    async (name) => {
      const spec = { executor: { instances: executors, cores: 1, memory: "512m" } };
      const reply = await api.call("POST", applications, sparkPi(name, spec));
      if (reply.status !== 201) throw new Error(`create ${name}: ${JSON.stringify(reply.body)}`);
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

const completed = (api: Api): Promise<number> => countListed(api, applications, (one) => stateOf(one) === "COMPLETED");

const startStandIns = (kubeconfig: string): { readonly child: ChildProcess; readonly ended: () => number } => {
  const child = fork(join(import.meta.dirname, "standins.ts"), [kubeconfig, String(executors), String(workMs)]);
  let ended = 0;
  child.on("message", (count) => {
    ended = Number(count);
  });
  return { child, ended: () => ended };
};

/** Resolves when every driver has ended and every application shows it. */
const allCompleted = async (api: Api, host: HostProcess, ended: () => number, count: number): Promise<void> => {
  for (const end = performance.now() + longestMs; ; await sleep(2_000)) {
    if (ended() === count && (await completed(api)) === count) return;
    if (host.exited()) throw new Error("the host ended");
    if (performance.now() > end)
      throw new Error(`${ended()} of ${count} drivers ended in ${longestMs / 60_000} minutes`);
    process.stderr.write(`${ended()} drivers have ended\n`);
  }
};

/** Returns the arrival of each application's POST of its driver, ms after `from`; throws if one was created twice. */
const driverPosts = async (audit: Audit, from: number, count: number): Promise<readonly number[]> => {
  const found = new Map<string, number>();
  for (const { verb, resource, name, code, at } of await audit.read()) {
    if (verb !== "create" || resource !== "pods" || code !== 201) continue;
    if (found.has(name)) throw new Error(`${name} was created twice`);
    found.set(name, at - from);
  }
  const posts = Array.from({ length: count }, (_, index) => found.get(`${nameOf(index)}-driver`) ?? Number.NaN);
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

/** Throws when work was wrong or missing; slowness is only reported. `nodeFlags`: of the host's Node.js. */
export const benchUpstream = async (count: number, nodeFlags: readonly string[]): Promise<readonly Figure[]> => {
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
  const { child, ended } = startStandIns(cluster.adminKubeconfig);
  try {
    const kubeconfig = await install(cluster, undefined);
    const host = startHost(kubeconfig, join(dir, "host.log"), ["--log-level", "warn"], nodeFlags);
    await sleep(5_000);
    const [before, from] = [await account(host), Date.now()];
    const creating = createAll(api, count);
    await Promise.all([creating, allCompleted(api, host, ended, count)]);
    const seconds = (Date.now() - from) / 1_000;
    const after = await account(host);
    const requests = (await audit.read()).filter(({ at }) => at >= from);
    console.log("API requests by verb");
    for (const [what, times] of tableOf(requests)) console.log(`  ${String(times).padStart(6)}  ${what}`);
    const posts = await driverPosts(audit, from, count);
    if ((await host.stop()) !== 0) throw new Error(`the host did not end well; its log is in ${dir}`);
    child.kill();
    const few = Math.min(sample, count);
    const floor = (await bareSubmissions(api, few)) / few;
    const minutes = Math.max(...posts) / 60_000;
    await rm(dir, { recursive: true, force: true });
    return [
      {
        name: `upstream.${count}.until-all-drivers`,
        value: 60 * minutes,
        unit: "s",
        aim: count / 25,
        floor: floor * count,
      },
      { name: `upstream.${count}.drivers-a-minute`, value: count / minutes, unit: "drivers" },
      { name: `upstream.${count}.bare-drivers-a-minute`, value: 60 / floor, unit: "drivers" },
      { name: `upstream.${count}.until-all-completed`, value: seconds, unit: "s" },
      { name: `upstream.${count}.latest-over-its-turn`, value: latestOf(posts), unit: "times", aim: 2 },
      { name: `upstream.${count}.host-peak-rss`, value: after.peak, unit: "MiB", aim: 400 },
      { name: "upstream.host-cpu-per-application", value: ((after.cpu - before.cpu) * 1_000) / count, unit: "ms" },
      { name: "upstream.api-requests-per-application", value: requests.length / count, unit: "requests" },
    ];
  } finally {
    child.kill();
    await cluster.stop();
  }
};
