/**
 * `npm run e2e -- --migrate`, the Volcano part: a migration from Volcano's controllers to Rekindle and back, with jobs
 * in every phase adopted and no pod refused.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Stored } from "../../../../shared/core/object.ts";
import { patienceMs } from "../../cluster/api.ts";
import { type Audit, isWrite, openAudit } from "../../cluster/audit.ts";
import { type Cluster, startCluster } from "../../cluster/cluster.ts";
import { cli, type HostProcess, install, rekindle, startHost } from "../installed.ts";
import { leaveRights } from "../rights.ts";
import { kubectl, must } from "../scene.ts";
import { type Act, played, type Result } from "./acts.ts";
import { type Prober, startProber } from "./admission.ts";
import { migrator, until } from "./fixture.ts";
import { beginRestart, jobOf, jobsPath, leaveAll, rows } from "./left.ts";
import { noWritesSince, provesReturn } from "./proofs.ts";
import { applyAll, pictureOf, stored } from "./upstream.ts";
import { crdsIn, home, installVolcano, standIns, type Volcano } from "./volcano.ts";

type Story = {
  readonly cluster: Cluster;
  readonly audit: Audit;
  readonly volcano: Volcano;
  readonly host: HostProcess;
  readonly log: string;
  readonly kubeconfig: string;
  readonly prober: Prober;
  /** Upstream's configuration before the first act, and the UIDs of the pods that upstream created, by pod name. */
  readonly before: string;
  readonly pods: ReadonlyMap<string, string>;
};

const groups = "batch.volcano.sh,bus.volcano.sh,scheduling.volcano.sh,flow.volcano.sh";
const names = rows.map(({ name }) => name);

const migrate = ({ kubeconfig }: Story, ...args: readonly string[]): Promise<string> =>
  rekindle(["migrate", "--kubeconfig", kubeconfig, ...args]);

/** Runs `rekindle migrate`, and kills it after `afterMs` if it has not ended. */
const killed = ({ kubeconfig }: Story, afterMs: number, ...args: readonly string[]): Promise<void> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [cli, "migrate", "--kubeconfig", kubeconfig, ...args], { stdio: "ignore" });
    const timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
    child.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });

const jobNamed = ({ cluster }: Pick<Story, "cluster">, name: string): Promise<Stored> =>
  stored(cluster.api, `${jobsPath}/${name}`);

const phaseOf = (job: Stored): unknown => Object(Object(job["status"])["state"])["phase"];

const countersOf = (job: Stored): string => {
  const { version = 0, retryCount = 0 } = Object(job["status"]);
  return `${version}/${retryCount}`;
};

const versionsOf = async (story: Pick<Story, "cluster">): Promise<string> => {
  const all = await Promise.all(names.map((name) => jobNamed(story, name)));
  return all.map(({ metadata }) => metadata.resourceVersion).join(" ");
};

const podsIn = async (cluster: Cluster): Promise<ReadonlyMap<string, string>> => {
  const format = 'jsonpath={range .items[*]}{.metadata.name}={.metadata.uid}{"\\n"}{end}';
  const text = await kubectl(cluster, ["get", "pods", "-l", "volcano.sh/job-name", "-o", format]);
  const pairs = text.trim().split("\n");
  return new Map(pairs.map((line) => [line.split("=")[0] ?? "", line.split("=")[1] ?? ""]));
};

const unrefused = ({ prober, volcano }: Story): string => {
  const { asked, refused } = prober.told();
  must(
    asked > 0 && refused.length === 0,
    `${refused.length} of ${asked} pods were refused: ${refused.slice(0, 3).join("; ")}`,
  );
  return `${asked} pods asked for, none refused; upstream's server was asked ${volcano.admission.asked()} times`;
};

const report = async (story: Story): Promise<readonly string[]> => {
  const { cluster, before } = story;
  const versions = await versionsOf(story);
  const said = await migrate(story);
  for (const part of [
    /controller +volcano-system\/volcano-controllers +1 wanted, 1 there; volcanosh\/vc-controller-manager:v1\.12\.1/,
    /webhook +volcano-system\/volcano-admission +1 wanted/,
    /scheduler +volcano-system\/volcano-scheduler +1 wanted/,
    /lease +volcano-system\/vc-controller-manager +renewed \d+ s ago by upstream/,
    /webhooks +volcano-admission-service-pods-mutate +MutatingWebhookConfiguration, failurePolicy Fail/,
    /3 +Job +Running +adopted, and followed to its end/,
    /1 +Job +Aborted +left until it is resumed/,
    /volcano-scheduler stays, and admits groups of pods: its lease volcano-system\/vc-scheduler is renewed/,
    /nothing stands in the way: rekindle migrate --family volcano --apply/,
  ])
    must(part.test(said), `the report does not say ${part}:\n${said}`);
  must(!/kubeflow/.test(said), `of what is not there it speaks:\n${said}`);
  must((await pictureOf(cluster, home)) === before, "the report changed something");
  must((await versionsOf(story)) === versions, "the report touched jobs");
  return said.trim().split("\n");
};

const shadow = async (story: Story): Promise<readonly string[]> => {
  const versions = await versionsOf(story);
  await sleep(12_000);
  must(!story.host.exited(), "the host ended");
  const told = await readFile(story.log, "utf8");
  must(told.includes("standby: Volcano holds the lease"), "it does not say that it stands aside");
  const reads = (await story.audit.read()).filter((request) => !isWrite(request)).length;
  must(reads > 0, "the account of the API server is empty");
  await noWritesSince(story.audit, 0);
  must((await versionsOf(story)) === versions, "jobs changed");
  return [`${reads} reads, 0 writes under a lease that was renewed`];
};

const apply = async (story: Story): Promise<readonly string[]> => {
  await beginRestart(story.cluster, story.volcano.api, "left-restarting");
  const began = Date.now();
  await killed(story, 6_000, "--apply", "--yes");
  const died = Date.now() - began;
  const said = await migrate(story, "--apply", "--yes");
  const picture = await pictureOf(story.cluster, home);
  for (const part of ["volcano-controllers 0", "volcano-admission 0", "volcano-scheduler 1"])
    must(picture.includes(part), `not ${part}: ${picture}`);
  must(!picture.includes("failurePolicy"), `webhook configurations are left: ${picture}`);
  const seconds = Math.round((Date.now() - began) / 1_000);
  return [
    `killed after ${died} ms and typed again: ${seconds} s`,
    ...said.trim().split("\n").slice(-4),
    unrefused(story),
  ];
};

/** name → its final phase, and its version and retries there. */
const ends: Readonly<Record<string, readonly [phase: string, counters: string]>> = {
  "left-running": ["Completed", "2/1"],
  "left-legacy": ["Completed", "0/0"],
  "left-restarting": ["Running", "1/1"],
  "left-pending": ["Completed", "0/0"],
  "left-aborted": ["Aborted", "1/0"],
  "left-completed": ["Completed", "1/0"],
};

const adopts = async (story: Story): Promise<readonly string[]> => {
  const { cluster, pods } = story;
  await applyAll(cluster, [jobOf("after", "sleep 2", 1)]);
  const wanted = { ...ends, after: ["Completed", "0/0"] as const };
  for (const [name, [phase]] of Object.entries(wanted))
    await until(`${name} is ${phase}`, async () => phaseOf(await jobNamed(story, name)) === phase, patienceMs);
  const found = await Promise.all(
    Object.entries(wanted).map(async ([name, [phase, counters]]) => {
      const job = await jobNamed(story, name);
      must(countersOf(job) === counters, `${name}: version and retries ${countersOf(job)}, not ${counters}`);
      return `${name} ${phase} ${counters}`;
    }),
  );
  const now = await podsIn(cluster);
  const kept = [...pods].filter(([name]) => !name.startsWith("left-restarting"));
  for (const [name, uid] of kept) must(now.get(name) === uid, `pod ${name} is another`);
  const about = (await story.audit.read()).filter((request) => isWrite(request) && request.resource === "pods");
  const deleted = about.filter(({ verb }) => verb.startsWith("delete"));
  must(deleted.length === 0, `deleted: ${deleted.map(({ name }) => name).join(", ")}`);
  // Two pods of the job that upstream had begun to restart, one pod that upstream had not created, and the new job's
  // pod.
  const made = about.filter(({ verb, code }) => verb === "create" && code === 201).length;
  must(made === 4, `${made} pods were made, not 4`);
  return [...found, `${kept.length} pods of upstream's kept, 0 pods deleted`, unrefused(story)];
};

/** Proves that the webhooks are in force: they refuse while their server is away. */
const isInForce = async ({ cluster }: Story): Promise<void> => {
  const pod = JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "late" },
    spec: { containers: [{ name: "c", image: "busybox" }] },
  });
  await kubectl(cluster, ["-n", home, "scale", "deployment/volcano-admission", "--replicas=0"]);
  const refused = async (): Promise<boolean> => {
    const { stderr } = await cluster.kubectl(["create", "--dry-run=server", "-f", "-"], { input: pod });
    return /failed calling webhook/.test(stderr);
  };
  await until("its webhooks refuse when their server is away", refused, 30_000);
};

const undo = async (story: Story): Promise<readonly string[]> => {
  const { cluster, audit, volcano, before } = story;
  await sleep(3_000);
  const versions = await versionsOf(story);
  const began = Date.now();
  await killed(story, 38_000, "--undo", "--yes");
  const died = Math.round((Date.now() - began) / 1_000);
  await migrate(story, "--undo", "--yes").catch((error: unknown) => {
    if (!/nothing to undo/.test(String(error))) throw error;
  });
  const seconds = Math.round((Date.now() - began) / 1_000);
  const back = { cluster, audit, home, before, leads: volcano.leads, versions: () => versionsOf(story) };
  await provesReturn(back, versions);
  const told = unrefused(story);
  await story.prober.stop();
  await isInForce(story);
  return [`killed after ${died} s and typed again: ${seconds} s; as before, upstream leads, 0 writes of ours`, told];
};

const acts: readonly Act<Story>[] = [
  ["Volcano: the report tells what there is, and changes nothing", report],
  ["Volcano: a host beside upstream's leader writes nothing", shadow],
  ["Volcano: --apply, killed on the way: upstream stops, no pod is refused meanwhile", apply],
  ["Volcano: jobs are adopted in the phases in which upstream left them: 0 pods deleted, 0 run again", adopts],
  ["Volcano: --undo, killed on the way: everything as it was and in force, no pod is refused meanwhile", undo],
];

const opened = async (
  dir: string,
  recorded: string,
): Promise<Omit<Story, "host" | "log" | "prober" | "before" | "pods">> => {
  const audit = await openAudit(dir, "rekindle", "rekindle");
  const flags = { "kube-apiserver": [...(audit.flags["kube-apiserver"] ?? []), "--enable-aggregator-routing=true"] };
  const cluster = await startCluster({ nodes: 1, dir, extra: flags, standIns });
  try {
    await install(cluster, crdsIn(recorded), groups);
    // A new CRD is served a moment later.
    for (const path of [
      jobsPath,
      ...["queues", "podgroups"].map((kind) => `/apis/scheduling.volcano.sh/v1beta1/${kind}`),
    ])
      await cluster.api.until(path, ({ status }) => status === 200, 30_000);
    const volcano = await installVolcano(cluster);
    return { cluster, audit, volcano, kubeconfig: await migrator(cluster) };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
};

/**
 * Runs one story on one cluster; it ends at the first act that fails. `recorded` is the folder of upstream's recorded
 * files.
 */
export const volcanoMigrateLane = async (recorded: string): Promise<readonly Result[]> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-e2e-migrate-volcano-"));
  const log = join(dir, "host.log");
  console.log(`host log: ${log}`);
  const fixture = await opened(dir, recorded);
  const { cluster, volcano } = fixture;
  try {
    await leaveAll(cluster, volcano.api);
    await volcano.registerWebhooks();
    await sleep(3_000);
    const host = startHost(await cluster.kubeconfigOf("rekindle", "rekindle"), log);
    const prober = startProber(cluster);
    const before = await pictureOf(cluster, home);
    const results = await played(acts, { ...fixture, host, log, prober, before, pods: await podsIn(cluster) });
    await prober.stop();
    await host.stop();
    return results;
  } finally {
    await volcano.stop();
    await leaveRights({ lane: "migrate-volcano" }, fixture.audit);
    await cluster.stop();
  }
};
