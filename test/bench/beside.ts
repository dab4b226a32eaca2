/**
 * `npm run bench -- beside`: Volcano's own controller manager and Rekindle's host do the same work in turns, each on a
 * control plane of its own: Jobs of one pod at once, and a Job of many pods. Both run without webhooks, under an account
 * whose requests the API server records; `job/standins/run.ts` stands in for kubelets and Volcano's scheduler. The
 * figures are Rekindle's by Volcano's: below 1 Rekindle needs less.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Audit, openAudit } from "../real/cluster/audit.ts";
import { type Cluster, startCluster } from "../real/cluster/cluster.ts";
import { appendTo, build, childOf, type HostProcess, install, startHost } from "../real/e2e/installed.ts";
import { type Book, openBook } from "../real/e2e/volcano/book.ts";
import { controllerOf } from "../real/setup/controllers.ts";
import { ensure } from "../real/setup/ensure.ts";
import { each } from "../support/parallel.ts";
import { firstQueues } from "../support/standins.ts";
import type { Figure } from "./figures.ts";
import { awaited, startStandIn } from "./job/stage.ts";
import { account } from "./submit.ts";

const jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
const groups = "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups";
const queues = "/apis/scheduling.volcano.sh/v1beta1/queues";

/** One of the two controllers: the namespace and the name of its account, its installation and its process. */
type Side = {
  readonly name: string;
  readonly account: readonly [namespace: string, name: string];
  /** Installs definitions and rights; returns the kubeconfig of the account. */
  readonly install: (cluster: Cluster) => Promise<string>;
  readonly start: (kubeconfig: string, log: string) => HostProcess;
};

const rekindle: Side = {
  name: "rekindle",
  account: ["rekindle", "rekindle"],
  install: (cluster) => install(cluster, undefined),
  start: (kubeconfig, log) => startHost(kubeconfig, log, ["--log-level", "warn", "--gang", "scheduler"]),
};

const must = async ({ kubectl }: Cluster, args: readonly string[], input = ""): Promise<void> => {
  const { code, stderr } = await kubectl(args, { input });
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
};

const { version, dir: programs, definitions } = controllerOf("volcano");
const system = "volcano-system";

/** Volcano's controller manager with the flags of its chart but for the leader election, and with every right. */
const volcano: Side = {
  name: "volcano",
  account: [system, "controllers"],
  install: async (cluster) => {
    await must(cluster, ["apply", "--server-side", "-f", "-"], await definitions());
    await must(cluster, ["create", "namespace", system]);
    await must(cluster, ["create", "serviceaccount", "controllers", "-n", system]);
    const of = `--serviceaccount=${system}:controllers`;
    await must(cluster, ["create", "clusterrolebinding", "controllers", "--clusterrole=cluster-admin", of]);
    return await cluster.kubeconfigOf(system, "controllers");
  },
  start: (kubeconfig, log) => {
    const flags = ["--kubeconfig", kubeconfig, "--leader-elect=false", "--logtostderr", "-v=1"];
    const child = spawn(join(programs, "vc-controller-manager"), flags, { stdio: ["ignore", "pipe", "pipe"] });
    appendTo(child, log);
    return childOf(child);
  },
};

/** A Job as Volcano's webhook would complete it. */
const job = (name: string, replicas: number): object => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "default" },
  spec: {
    ...{ schedulerName: "volcano", queue: "default", minAvailable: replicas, maxRetry: 3 },
    tasks: [
      {
        ...{ name: "w", replicas, minAvailable: replicas, maxRetry: 3 },
        template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "none" }] } },
      },
    ],
  },
});

/** A load: its Jobs, each with its number of pods. */
type Work = { readonly name: string; readonly jobs: readonly (readonly [name: string, pods: number])[] };

const worksOf = (count: number): readonly Work[] => [
  {
    name: `${count}-jobs-of-1`,
    jobs: Array.from({ length: count }, (_, index) => [`small-${index + 1}`, 1] as const),
  },
  { name: `1-job-of-${count * 2}`, jobs: [["big", count * 2]] },
];

const measures = ["all-created", "all-Running", "cpu", "requests", "peak-rss"] as const;

type Measures = Readonly<Record<(typeof measures)[number], number>>;

const units: Readonly<Record<keyof Measures, string>> = {
  ...{ "all-created": "s", "all-Running": "s", cpu: "CPU-s", requests: "requests a pod", "peak-rss": "MiB" },
};

type Stage = {
  readonly side: Side;
  readonly cluster: Cluster;
  readonly audit: Audit;
  readonly book: Book;
  readonly controller: HostProcess;
};

const post = async (
  { side, cluster }: Pick<Stage, "side" | "cluster">,
  path: string,
  object: object,
): Promise<void> => {
  const { status, body } = await cluster.api.call("POST", path, object);
  // Volcano's controller manager makes the first queues itself.
  if (status !== 201 && status !== 409) throw new Error(`${side.name}: POST ${path}: ${JSON.stringify(body)}`);
};

/** Measures one load until all of its pods are Running, and until the controller has nothing left to do. */
const measured = async (stage: Stage, work: Work): Promise<Measures> => {
  const { side, audit, book, controller } = stage;
  const [before, from] = [await account(controller), Date.now()];
  await each(work.jobs, ([name, pods]) => post(stage, jobs, job(name, pods)));
  const isUp = ([name, pods]: Work["jobs"][number]): boolean => {
    const status = book.of("default", name).last?.status;
    return status?.state.phase === "Running" && status.running === pods;
  };
  const up = await awaited(`all of ${work.name} of ${side.name} Running`, () => work.jobs.every(isUp));
  await sleep(4_000);
  const after = await account(controller);
  const asked = (await audit.read()).filter(({ at, verb }) => at >= from && verb !== "watch");
  const posts = asked.filter(({ verb, resource, code }) => verb === "create" && resource === "pods" && code === 201);
  const pods = work.jobs.reduce((sum, [, count]) => sum + count, 0);
  if (posts.length !== pods) throw new Error(`${side.name} made ${posts.length} pods of ${work.name}, not ${pods}`);
  return {
    "all-created": (Math.max(...posts.map(({ at }) => at)) - from) / 1_000,
    "all-Running": (up - from) / 1_000,
    cpu: after.cpu - before.cpu,
    requests: asked.length / pods,
    "peak-rss": after.peak,
  };
};

/** Runs one side on a control plane of its own; returns what each work took. */
const turnOf = async (side: Side, works: readonly Work[]): Promise<readonly Measures[]> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-bench-beside-"));
  const audit = await openAudit(dir, ...side.account);
  const cluster = await startCluster({ nodes: 0, dir: join(dir, "cluster"), extra: audit.flags });
  const ends: (() => unknown)[] = [];
  try {
    const kubeconfig = await side.install(cluster);
    for (const path of [jobs, groups, queues]) await cluster.api.until(path, ({ status }) => status === 200, 30_000);
    for (const queue of firstQueues) await post({ side, cluster }, queues, queue);
    const book = await openBook(cluster.adminKubeconfig);
    const standIn = startStandIn(cluster, true);
    const controller = side.start(kubeconfig, join(dir, "controller.log"));
    ends.push(book.stop, () => standIn.kill(), controller.kill);
    await sleep(6_000);
    const found: Measures[] = [];
    for (const work of works) found.push(await measured({ side, cluster, audit, book, controller }, work));
    await rm(dir, { recursive: true, force: true });
    return found;
  } finally {
    for (const end of ends) await end();
    await cluster.stop();
  }
};

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

type Turn = { readonly side: Side; readonly found: readonly Measures[] };

/** Throws when work was wrong or missing; slowness is only reported. `count`: Jobs of one pod, and half the pods of the large Job. */
export const benchBeside = async (count: number): Promise<readonly Figure[]> => {
  await ensure(["go", "volcano"]);
  await build();
  const works = worksOf(count);
  const turns: Turn[] = [];
  for (const side of [volcano, rekindle, rekindle, volcano]) turns.push({ side, found: await turnOf(side, works) });
  console.log(
    `Volcano ${version}; turns: ${turns.map(({ side }) => side.name).join(", ")}; each figure is the mean of a side's turns`,
  );
  return works.flatMap((work, at) =>
    measures.flatMap((measure) => {
      const of = (side: Side): number =>
        meanOf(turns.filter((turn) => turn.side === side).flatMap(({ found }) => found[at]?.[measure] ?? []));
      const name = `beside.${work.name}.${measure}`;
      return [
        { name: `${name}.volcano`, value: of(volcano), unit: units[measure] },
        { name: `${name}.rekindle`, value: of(rekindle), unit: units[measure] },
        { name: `${name}.ratio`, value: of(rekindle) / of(volcano), unit: "of Volcano's", aim: 1 },
      ];
    }),
  );
};
