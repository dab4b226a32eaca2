/**
 * `npm run bench -- recovery`: the time to replace lost executors where Rekindle is the allocator (`own`). The API
 * server is real, with the shipped service account and the built host; drivers, executors and kubelet are stand-ins.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Audit, openAudit, type Request, tableOf } from "../../real/cluster/audit.ts";
import { type Cluster, startCluster } from "../../real/cluster/cluster.ts";
import { bridgeAddress, enterNamespace, isInside } from "../../real/cluster/netns.ts";
import { build, type HostProcess, install, startHost } from "../../real/e2e/installed.ts";
import { ensure } from "../../real/setup/ensure.ts";
import { sparkPi } from "../../support/pi.ts";
import { type Figure, figureLine, quantile } from "../figures.ts";
import { collection } from "../kubelet.ts";
import { account } from "../submit.ts";
import { openBlindfold } from "./blindfold.ts";
import { bareLoss, bareMassLoss, barePosts } from "./floor.ts";
import { type Executor, instant, openStandIns, type StandIns } from "./standins.ts";

/**
 * Applications that lose executors one by one: twenty, so that at ten losses a second each application is at rest
 * before its next loss.
 */
const many = { apps: 20, each: 50, pauseMs: 75 };

export type Asked = {
  /** Number of single losses. */
  readonly losses: number;
  /** Folder of the host's CPU profile. */
  readonly profile: string | undefined;
  /** One of `parts`; absent: all. */
  readonly part: string | undefined;
};

export const parts: readonly string[] = ["single", "mass", "missed"];
/** `startMs`: real executors are registered 3.5 to 4 s after the creation of their pods. */
const mass = { app: "mass", count: 1_000, startMs: 4_000 };
/** The largest number of executors that are created within one interval. */
const pace = { batch: 1_000, delay: "1s" };
const resyncSeconds = 10;
const misses = 5;
/** The losses are spread over the time between two resyncs. */
const missEveryMs = 1_900;
/** Executors that end younger than this count for a crash loop. */
const grownMs = 65_000;
const floor = "floor";

type Bench = {
  readonly cluster: Cluster;
  readonly audit: Audit;
  readonly standIns: StandIns;
  readonly kubeconfig: string;
  readonly dir: string;
  readonly asked: Asked;
};

const created = async ({ cluster }: Bench, name: string, instances: number): Promise<void> => {
  const conf = {
    "spark.kubernetes.scheduler.name": "none",
    "spark.kubernetes.allocation.batch.size": String(pace.batch),
    "spark.kubernetes.allocation.batch.delay": pace.delay,
  };
  const body = sparkPi(name, { executor: { instances, cores: 1, memory: "512m" }, sparkConf: conf });
  const own = { ...body, metadata: { ...body.metadata, annotations: { "rekindle.dev/executors": "own" } } };
  const { status, body: answer } = await cluster.api.call("POST", collection, own);
  if (status !== 201) throw new Error(`${name}: ${JSON.stringify(answer)}`);
};

type ExecutorGroup = { readonly app: string; readonly each: number };

const losers = (count: number): readonly ExecutorGroup[] =>
  Array.from({ length: count }, (_, index) => ({ app: `loses-${index + 1}`, each: many.each }));

const massGroup: ExecutorGroup = { app: mass.app, each: mass.count };

const groupsOf = (wants: (part: string) => boolean): readonly ExecutorGroup[] => [
  ...(wants("single") || wants("missed") ? losers(many.apps) : []),
  ...(wants("mass") ? [massGroup] : []),
];

/** Resolves with the instant at which an application has all its executors. */
const complete = async ({ standIns }: Bench, { app, each }: ExecutorGroup): Promise<number> => {
  for (const until = performance.now() + 240_000; standIns.running(app).length < each; await sleep(200))
    if (performance.now() > until)
      throw new Error(`${app} has ${standIns.running(app).length} of ${each} executors after four minutes`);
  return instant();
};

/** Resolves when all applications have all their executors, with the instant at which each had them. */
const atWork = async (bench: Bench, groups: readonly ExecutorGroup[]): Promise<ReadonlyMap<string, number>> => {
  for (const { app, each } of groups) await created(bench, app, each);
  return new Map(await Promise.all(groups.map(async (group) => [group.app, await complete(bench, group)] as const)));
};

/** Resolves when the executors of these applications are old enough to be lost. */
const grown = async (since: ReadonlyMap<string, number>, groups: readonly ExecutorGroup[]): Promise<void> => {
  const last = Math.max(...groups.map(({ app }) => since.get(app) ?? 0));
  await sleep(Math.max(0, last + grownMs - instant()));
};

type Replaced = { readonly lost: Executor; readonly by: Executor; readonly visibleAt: number };

const replaced = async ({ standIns }: Bench, lost: Executor): Promise<Replaced> => {
  const coming = standIns.next(lost.app, 1);
  coming.catch(() => {});
  const visibleAt = await standIns.fail(lost);
  const [by] = await coming;
  if (by === undefined) throw new Error(`${lost.name} has no successor`);
  return { lost, by, visibleAt };
};

/** Fails every initial executor, one after the other, with the applications in turn. */
const oneByOne = async (bench: Bench, apps: readonly string[]): Promise<readonly Replaced[]> => {
  const first = apps.map((app) => bench.standIns.running(app));
  const all: Replaced[] = [];
  for (let round = 0; round < bench.asked.losses / many.apps; round++) {
    for (const executors of first) {
      const lost = executors[round];
      if (lost === undefined) throw new Error("there is no executor left to lose");
      all.push(await replaced(bench, lost));
      await sleep(many.pauseMs);
    }
    process.stderr.write(`${all.length} losses\n`);
  }
  return all;
};

/** Returns the arrival of each pod's POST at the API server, epoch ms; throws if a name was created twice. */
const postsOf = async ({ audit }: Bench): Promise<ReadonlyMap<string, number>> => {
  const posts = new Map<string, number>();
  for (const { verb, resource, code, name, at } of await audit.read()) {
    if (verb !== "create" || resource !== "pods" || code !== 201) continue;
    if (posts.has(name)) throw new Error(`${name} was made twice`);
    posts.set(name, at);
  }
  return posts;
};

const delays = (all: readonly Replaced[], posts: ReadonlyMap<string, number>): readonly number[] =>
  all.map(({ by, visibleAt }) => (posts.get(by.name) ?? Number.NaN) - visibleAt);

/** Asserts the exact number of executors, without duplicate ids. */
const exact = ({ standIns }: Bench, app: string, count: number): void => {
  const executors = standIns.running(app);
  if (executors.length !== count) throw new Error(`${app} has ${executors.length} executors, not ${count}`);
  if (new Set(executors.map(({ id }) => id)).size !== count) throw new Error(`${app} has two executors of one id`);
};

/** Returns the host's requests since then, and prints them per loss. */
const asked = async ({ audit }: Bench, since: number, losses: number): Promise<readonly Request[]> => {
  const requests = (await audit.read()).filter(({ at }) => at >= since);
  for (const [what, times] of tableOf(requests)) console.log(`${(times / losses).toFixed(2).padStart(8)} ${what}`);
  return requests;
};

/** Returns the ms of 200 losses by bare requests, while the host rests. */
const bareLosses = async ({ cluster }: Bench, apps: readonly string[]): Promise<readonly number[]> => {
  const bare: number[] = [];
  for (let index = 0; index < 200; index++)
    bare.push(await bareLoss(cluster.api, floor, apps[index % apps.length] ?? "", index));
  return bare;
};

/** `old` resolves when the executors may be lost. */
const singles = async (bench: Bench, host: HostProcess, old: Promise<void>): Promise<readonly Figure[]> => {
  const apps = losers(many.apps).map(({ app }) => app);
  const bare = await bareLosses(bench, apps);
  await old;
  const [before, began] = [await account(host), Date.now()];
  const all = await oneByOne(bench, apps);
  const after = await account(host);
  await sleep(2_000);
  const requests = await asked(bench, began, all.length);
  for (const app of apps) exact(bench, app, many.each);
  const took = delays(all, await postsOf(bench));
  const count = all.length;
  const [floor50, floor99] = [quantile(bare, 0.5), quantile(bare, 0.99)];
  return [
    { name: "recovery.visible-to-POST.p50", value: quantile(took, 0.5), unit: "ms", aim: 10, floor: floor50 },
    { name: "recovery.visible-to-POST.p99", value: quantile(took, 0.99), unit: "ms", aim: 35, floor: floor99 },
    { name: "recovery.visible-to-POST.most", value: Math.max(...took), unit: "ms" },
    { name: "recovery.bare-LIST-GET-POST.p50", value: floor50, unit: "ms" },
    { name: "recovery.bare-LIST-GET-POST.p99", value: floor99, unit: "ms" },
    { name: "recovery.api-requests-per-loss", value: requests.length / count, unit: "requests", aim: 8 },
    { name: "recovery.host-cpu-per-loss", value: ((after.cpu - before.cpu) * 1_000) / count, unit: "ms", aim: 20 },
  ];
};

/** Fails all executors at once; measures from the first visible loss to the last POST. */
const massLoss = async (bench: Bench, host: HostProcess): Promise<readonly Figure[]> => {
  const { app, count } = mass;
  const victims = bench.standIns.running(app);
  const before = await account(host);
  const coming = bench.standIns.next(app, count);
  coming.catch(() => {});
  const visible = await Promise.all(victims.map((one) => bench.standIns.fail(one)));
  const came = await coming;
  await sleep(3_000);
  const cpu = (await account(host)).cpu - before.cpu;
  exact(bench, app, count);
  const posts = await postsOf(bench);
  const [first, all] = [Math.min(...visible), Math.max(...visible)];
  const times = came.map(({ name }) => posts.get(name) ?? Number.NaN);
  await asked(bench, first, count);
  const last = Math.max(...times);
  const { api, adminKubeconfig } = bench.cluster;
  const bare = await barePosts(api, floor, count);
  const least = await bareMassLoss(adminKubeconfig, api, floor, count);
  return [
    {
      name: `recovery.${count}-of-${count}.first-visible-to-last-POST`,
      value: (last - first) / 1_000,
      unit: "s",
      aim: 8,
      floor: least.all,
    },
    { name: "recovery.mass.until-half-are-replaced", value: (quantile(times, 0.5) - first) / 1_000, unit: "s" },
    { name: "recovery.mass.until-all-losses-visible", value: (all - first) / 1_000, unit: "s" },
    {
      name: "recovery.mass.last-visible-to-last-POST",
      value: Math.max(0, last - all) / 1_000,
      unit: "s",
      aim: 1,
      floor: least.rest,
    },
    { name: "recovery.mass.host-cpu", value: cpu, unit: "s", aim: 2.5 },
    { name: `recovery.bare-${count}-POSTs`, value: bare, unit: "s" },
  ];
};

/** The event of a loss never arrives, so only the resync can find it. */
const missed = async (bench: Bench): Promise<readonly Figure[]> => {
  const blindfold = await openBlindfold(bench.kubeconfig, join(bench.dir, "blindfold.kubeconfig"));
  const host = startHost(blindfold.kubeconfig, join(bench.dir, "blind.log"), ["--resync", `${resyncSeconds}s`]);
  try {
    await Promise.race([blindfold.watched, sleep(60_000, undefined, { ref: false })]);
    await sleep(5_000);
    const before = blindfold.held();
    blindfold.put(true);
    const all = await Promise.all(
      losers(misses).map(async ({ app }, index) => {
        await sleep(missEveryMs * index);
        const [lost] = bench.standIns.running(app);
        if (lost === undefined) throw new Error("there is no executor left to lose");
        return await replaced(bench, lost);
      }),
    );
    if (blindfold.held() < before + misses) throw new Error("the news of the losses was not held back");
    await host.stop();
    const took = delays(all, await postsOf(bench)).map((ms) => ms / 1_000);
    return [
      {
        name: `recovery.missed-event.resync-${resyncSeconds}s.most`,
        value: Math.max(...took),
        unit: "s",
        aim: resyncSeconds + 1,
      },
    ];
  } finally {
    if (!host.exited()) await host.kill();
    await blindfold.stop();
  }
};

/** Prints the figures at once; the caller prints all of them at the end. */
const shown = (figures: readonly Figure[]): readonly Figure[] => {
  for (const figure of figures) process.stderr.write(`${figureLine(figure)}\n`);
  return figures;
};

/** Measures a host that receives all events. */
const seeing = async (bench: Bench, wants: (part: string) => boolean): Promise<readonly Figure[]> => {
  const { profile } = bench.asked;
  const flags = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  const host = startHost(bench.kubeconfig, join(bench.dir, "host.log"), ["--log-level", "warn"], flags);
  try {
    const since = await atWork(bench, groupsOf(wants));
    const single = wants("single") ? shown(await singles(bench, host, grown(since, losers(many.apps)))) : [];
    if (wants("mass")) await grown(since, [massGroup]);
    const all = wants("mass") ? shown(await massLoss(bench, host)) : [];
    if (wants("missed")) await grown(since, losers(many.apps));
    const { peak } = await account(host);
    const code = await host.stop();
    if (code !== 0) throw new Error(`the host ended with ${code}; its log is in ${bench.dir}`);
    return [...single, ...all, { name: "recovery.host-peak-rss", value: peak, unit: "MiB" }];
  } finally {
    if (!host.exited()) await host.stop();
  }
};

const measured = async (bench: Bench): Promise<readonly Figure[]> => {
  const { api } = bench.cluster;
  const wants = (part: string): boolean => (bench.asked.part ?? part) === part;
  await api.call("POST", "/api/v1/namespaces", { metadata: { name: floor } });
  await api.until(collection, ({ status }) => status === 200, 20_000);
  await api.until(`/api/v1/namespaces/${floor}/serviceaccounts/default`, ({ status }) => status === 200, 20_000);
  const seen = await seeing(bench, wants);
  return [...seen, ...(wants("missed") ? shown(await missed(bench)) : [])];
};

const says = [
  `own mode; batch ${pace.batch}, interval ${pace.delay}; ${many.apps} applications of ${many.each} executors, and one of ${mass.count}`,
  `visible: the API server has answered the write that says that an executor failed (137); of the ${mass.count}, what is made runs after ${mass.startMs} ms`,
  "POST: the API server's audit log says that the successor's POST has come",
] as const;

/** Throws when there are too many, too few or duplicate executors; slowness is only reported. */
export const benchRecovery = async (asked: Asked): Promise<readonly Figure[]> => {
  if (!isInside()) {
    await ensure(["system", "go"]);
    await build();
  }
  await enterNamespace();
  for (const line of says) console.log(line);
  const began = instant();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-recovery-"));
  const audit = await openAudit(dir, "rekindle", "rekindle");
  const cluster = await startCluster({ nodes: 0, dir: join(dir, "cluster"), extra: audit.flags });
  const slowly = { slow: mass.app, startMs: mass.startMs };
  const standIns = await openStandIns(cluster.adminKubeconfig, bridgeAddress, slowly);
  try {
    const kubeconfig = await install(cluster, undefined);
    const figures = await measured({ cluster, audit, standIns, kubeconfig, dir, asked });
    await rm(dir, { recursive: true, force: true });
    return [...figures, { name: "recovery.bench", value: (instant() - began) / 1_000, unit: "s" }];
  } finally {
    await standIns.stop();
    await cluster.stop();
  }
};
