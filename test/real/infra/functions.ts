/**
 * The functions as processes, each under its shipped account, on a real API server: none of their requests is refused.
 * Once SQS calls them, and once the dispatcher of its overlay does.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { functionsText } from "../../../shared/installation/manifests.ts";
import { features } from "../../../shared/kube/resources.ts";
import { builtFor } from "../../support/build.ts";
import { freePort } from "../../support/port.ts";
import { openAudit } from "../cluster/audit.ts";
import { type Cluster, startCluster } from "../cluster/cluster.ts";
import { leaveRights, refusedIn } from "../e2e/rights.ts";
import { recordOf } from "../lambda/cloud.ts";
import { createQueues, credentials, openClient, region } from "../lambda/queues.ts";
import { startElasticMq } from "../queue/elasticmq.ts";
import { ensure } from "../setup/ensure.ts";
import { type Check, install } from "./accepted.ts";
import { accountsIn, dataIn, overlayOf } from "./overlays.ts";

type Environment = Readonly<Record<string, string>>;

/** The surroundings of functions: what calls them, and their accounts. */
type Lane = {
  /** Name of the evidence in `rights.ts`. */
  readonly lane: string;
  readonly functions: readonly string[];
  /** Manifests of accounts and roles. */
  readonly accounts: (cluster: Cluster) => Promise<string>;
  /** Opens the environment of each function, by its name; `stop` closes what the functions need. */
  readonly open: (
    cluster: Cluster,
    dir: string,
  ) => Promise<{ readonly envOf: (name: string) => Environment; readonly stop: () => Promise<void> }>;
};

const bySqs: Lane = {
  lane: "functions",
  functions: ["forward", "reconcile", "resync", "wake"],
  accounts: async () => functionsText({ namespace: "rekindle", functions: true, features }),
  open: async (_, dir) => {
    const broker = await startElasticMq({ dir });
    const client = openClient(broker.endpoint);
    const queues = await createQueues(client, "keys", { visibilitySeconds: 5, maxReceiveCount: 100 });
    const env = {
      ...{ REKINDLE_FIFO_URL: queues.fifo, REKINDLE_DELAY_URL: queues.delay },
      ...{ AWS_ENDPOINT_URL_SQS: broker.endpoint, AWS_REGION: region },
      ...{ AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey },
    };
    return {
      envOf: () => env,
      stop: async () => {
        client.destroy();
        await broker.stop();
      },
    };
  },
};

/** The overlay's accounts and settings; only the URLs are those of processes, and updates go to events. */
export const byDispatcher: Lane = {
  lane: "dispatch",
  functions: ["dispatch", "reconcile", "deliver"],
  accounts: async (cluster) => accountsIn(await overlayOf(cluster, "dispatch")),
  open: async (cluster) => {
    const data = dataIn(await overlayOf(cluster, "dispatch"));
    const [dispatch, reconcile, deliver] = [await freePort(), await freePort(), await freePort()];
    const at = (port: number): string => `127.0.0.1:${port}`;
    const listens = new Map(Object.entries({ dispatch: at(dispatch), reconcile: at(reconcile), deliver: at(deliver) }));
    return {
      envOf: (name) => ({
        ...data,
        REKINDLE_CALL_URLS: `reconcile=http://${at(reconcile)}/,deliver=http://${at(deliver)}/`,
        REKINDLE_CALL_SECRET: "a-secret-that-signs-calls",
        REKINDLE_UPDATES_TO: "events",
        REKINDLE_LISTEN: listens.get(name) ?? "",
      }),
      stop: async () => {},
    };
  },
};

type FunctionProcesses = { readonly children: readonly ChildProcess[]; readonly said: () => string };

/** `wake` sends no request to the cluster, and has no account. */
const begin = async (
  cluster: Cluster,
  dir: string,
  functions: readonly string[],
  envOf: (name: string) => Environment,
): Promise<FunctionProcesses> => {
  let said = "";
  const children: ChildProcess[] = [];
  for (const name of functions) {
    const record = name === "wake" ? "{}" : await recordOf(await cluster.kubeconfigOf("rekindle", `rekindle-${name}`));
    const child = spawn(process.execPath, [join(dir, "code", `${name}.mjs`)], {
      env: { PATH: process.env["PATH"] ?? "", ...envOf(name), REKINDLE_CLUSTER_RECORD: record },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        said = `${said}${chunk}`.slice(-4_000);
      });
    children.push(child);
  }
  return { children, said: () => said };
};

const examples = [
  "spark-pi",
  "spark-pi-scheduled",
  "spark-connect",
  "volcano-job",
  "volcano-cronjob",
  "volcano-jobflow",
].map((name) => `infra/examples/${name}.yaml`);

const checkpoints = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

const collection = "/apis/rekindle.dev/v1alpha1/namespaces/default/checkpoints";

const recorded = async (cluster: Cluster): Promise<number> =>
  checkpoints.parse((await cluster.api.call("GET", collection)).body).items.length;

const soon = async (isSo: () => Promise<boolean>, ms: number): Promise<boolean> => {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    if (await isSo()) return true;
    await sleep(300);
  }
  return false;
};

/** Applies the examples of all kinds, waits until five records exist, and deletes the examples. */
const lived = async (cluster: Cluster): Promise<readonly string[]> => {
  const files = examples.flatMap((file) => ["-f", file]);
  const { code, stderr } = await cluster.kubectl(["apply", ...files]);
  if (code !== 0) return [stderr];
  const few = !(await soon(async () => (await recorded(cluster)) >= 5, 20_000));
  await sleep(2_000);
  await cluster.kubectl(["delete", "--wait=false", ...files]);
  await sleep(4_000);
  return few ? [`only ${await recorded(cluster)} of the examples have a record after 20 s`] : [];
};

const checked = async ({ lane, functions, accounts, open }: Lane, dir: string): Promise<readonly string[]> => {
  await builtFor(join(dir, "code"));
  const audit = await openAudit(join(dir, "audit"), "rekindle");
  const cluster = await startCluster({ nodes: 0, extra: audit.flags });
  let around: Awaited<ReturnType<Lane["open"]>> | undefined;
  let processes: FunctionProcesses | undefined;
  try {
    const { stdout: crds } = await cluster.kubectl(["kustomize", "infra/crds"]);
    await install(cluster, crds);
    await cluster.api.until(collection, ({ status }) => status === 200, 30_000);
    const { stdout: drivers } = await cluster.kubectl(["kustomize", "infra/kubernetes/drivers"]);
    await install(cluster, drivers);
    await install(cluster, await accounts(cluster));
    around = await open(cluster, dir);
    processes = await begin(cluster, dir, functions, around.envOf);
    const wrong = await lived(cluster);
    for (const child of processes.children) child.kill("SIGKILL");
    // The audit log has a watch only after its end.
    await sleep(1_500);
    await leaveRights({ lane }, audit);
    return [...wrong, ...refusedIn(await audit.read()), ...(wrong.length > 0 ? [processes.said()] : [])];
  } finally {
    for (const child of processes?.children ?? []) child.kill("SIGKILL");
    await around?.stop();
    await cluster.stop();
  }
};

export const functionChecks = async (): Promise<readonly Check[]> => {
  await ensure(["go", "queue"]);
  const check = (name: string, lane: Lane): Check => ({
    name: `${name} under their own accounts are refused nothing that objects of every kind need`,
    run: async () => {
      const dir = await mkdtemp(join(tmpdir(), "rekindle-functions-"));
      try {
        return await checked(lane, dir);
      } finally {
        await rm(dir, { recursive: true, force: true });
      }
    },
  });
  return [check("functions", bySqs), check("the dispatcher of its overlay and its functions", byDispatcher)];
};
