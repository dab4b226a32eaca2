/**
 * `npm run bench -- functions --part dispatch`: the requests of an application's life by functions that a dispatcher
 * calls, each with its purpose; with records in the API server, and in a table. The built dispatcher and `reconcile` run as
 * processes on a real API server with an audit log; `kubelet.ts` writes the statuses of pods.
 */
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Audit, openAudit, type Request } from "../real/cluster/audit.ts";
import { type Cluster, startCluster } from "../real/cluster/cluster.ts";
import { build, install, startFunction } from "../real/e2e/installed.ts";
import { install as applied } from "../real/infra/accepted.ts";
import { byDispatcher } from "../real/infra/functions.ts";
import { recordOf } from "../real/lambda/cloud.ts";
import { credentials, region } from "../real/lambda/queues.ts";
import { ensure } from "../real/setup/ensure.ts";
import { startDynamoLocal } from "../real/store/dynamodb.ts";
import { freePort } from "../support/port.ts";
import { createTable, table } from "./cloud/deployment.ts";
import { isLook } from "./costs.ts";
import type { Figure } from "./figures.ts";
import { type Life, live } from "./kubelet.ts";

/** An application runs longer than the 16 s in which a late submission may still arrive, as with a real driver. */
const life: Life = { executors: 0, losses: 0, paceMs: 4_300 };
const lives = 3;
const warmUp = "warm-up";
/** The lives begin so far apart that no change of one falls together with a change of another. */
const apartMs = 1_400;
/** Time without a request after which a life is over, ms. */
const stillMs = 3_000;
/** The latest that a timer of a life comes after its submission, ms: the check whether its driver starts. */
const timersMs = 62_000;

/** The purpose of each request that a life may need, by verb and resource. */
const purposes: Readonly<Record<string, string>> = {
  "create checkpoints": "the attempt's identity, before any of its objects exists",
  "get checkpoints": "what the step before has saved",
  "update checkpoints": "the driver's UID; time and manner of the end",
  "create configmaps": "Spark's two config maps",
  "create services": "Spark's headless service; the UI's service, whose answer has its address",
  "get services": "the address of the UI's service",
  "create pods": "the driver",
  "list pods": "the driver's state, and strays",
  "get sparkapplications": "the application as it is now",
  "create events": "SUBMITTED; RUNNING; the driver's end; the application's end",
  "patch sparkapplications/status": "SUBMITTED; RUNNING; COMPLETED",
};

const byFunction = ({ agent }: Request): boolean => agent.startsWith("rekindle-reconcile");

/** Waits until the functions have made no request for a while; returns their requests since. */
const settled = async (audit: Audit, before: number): Promise<readonly Request[]> => {
  for (const until = performance.now() + 60_000; performance.now() < until; await sleep(250)) {
    const requests = (await audit.read()).slice(before).filter(byFunction);
    const newest = requests.at(-1)?.at ?? 0;
    if (Date.now() - newest > stillMs) return requests;
  }
  throw new Error("the functions do not come to rest");
};

const tabulate = (store: string, requests: readonly Request[]): void => {
  const counts = Map.groupBy(requests, ({ verb, resource }) => `${verb} ${resource}`);
  console.log(`requests of one life besides its executors, records in ${store}:`);
  for (const [what, { length }] of counts)
    console.log(`  ${(length / lives).toFixed(1).padStart(5)}  ${what.padEnd(32)} ${purposes[what] ?? "?"}`);
};

type Bench = { readonly cluster: Cluster; readonly audit: Audit; readonly dir: string };

type Processes = { readonly stop: () => Promise<void> };

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });

/** Starts the dispatcher and the function; resolves when the dispatcher is ready. */
const start = async ({ cluster, dir }: Bench, store: Readonly<Record<string, string>>): Promise<Processes> => {
  const [door, port] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}/`;
  const own = async (name: "reconcile" | "dispatch") => ({
    ...common,
    REKINDLE_CLUSTER_RECORD: await recordOf(await cluster.kubeconfigOf("rekindle", `rekindle-${name}`)),
  });
  const { envOf } = await byDispatcher.open(cluster, dir);
  const common = {
    ...envOf("dispatch"),
    REKINDLE_CALL_SECRET: "a secret that signs the calls of this bench",
    // Nobody listens: a record with an update to deliver makes each timer a whole step.
    REKINDLE_UPDATES_TO: "",
    ...store,
  };
  const children = [
    startFunction(
      "reconcile",
      { ...(await own("reconcile")), REKINDLE_LISTEN: `127.0.0.1:${port}` },
      join(dir, "reconcile.log"),
    ),
    startFunction(
      "dispatch",
      {
        ...(await own("dispatch")),
        REKINDLE_LISTEN: `127.0.0.1:${door}`,
        REKINDLE_CALL_URLS: `reconcile=${url},deliver=${url}`,
      },
      join(dir, "dispatch.log"),
    ),
  ];
  const ready = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${door}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const until = performance.now() + 60_000; !(await ready()); await sleep(200))
    if (performance.now() > until) throw new Error(`the dispatcher is not ready after a minute; its log is in ${dir}`);
  return { stop: async () => void (await Promise.all(children.map(ended))) };
};

/** Runs lives one after the other; returns the figures of one. */
const measured = async (
  { cluster, audit, dir }: Bench,
  {
    name,
    store,
    env,
    aim,
  }: {
    readonly name: string;
    readonly store: string;
    readonly env: Readonly<Record<string, string>>;
    readonly aim?: number;
  },
): Promise<readonly Figure[]> => {
  const processes = await start({ cluster, audit, dir }, env);
  await live(cluster.api, `${warmUp}-${name}`, { ...life, paceMs: 500 });
  await settled(audit, 0);
  const before = (await audit.read()).length;
  const all = Array.from({ length: lives }, async (_, index) => {
    await sleep(index * apartMs);
    await live(cluster.api, `${name}-${index}`, life);
  });
  await Promise.all(all);
  await sleep(timersMs);
  const requests = await settled(audit, before);
  await processes.stop();
  // The timers of each life are counted, those of the warm-up for none.
  const own = requests.filter((request) => !isLook(request) && !request.name.includes(warmUp));
  tabulate(store, own);
  const figure = (what: string, value: number, more: object = {}): Figure => ({
    ...{ name: `functions.dispatched.${name}.${what}`, value: value / lives, unit: "requests" },
    ...more,
  });
  return [
    figure("api-requests", own.length, aim === undefined ? {} : { aim }),
    figure("looks", requests.filter(isLook).length),
  ];
};

/** Throws when work was wrong or missing; high costs are only reported. */
export const benchDispatched = async (): Promise<readonly Figure[]> => {
  await ensure(["go", "store"]);
  await build();
  const dir = await mkdtemp(join(tmpdir(), "rekindle-bench-"));
  const audit = await openAudit(dir, "rekindle");
  const cluster = await startCluster({ nodes: 0, dir, extra: audit.flags });
  const store = await startDynamoLocal(dir);
  try {
    await createTable(store.endpoint);
    await install(cluster, undefined);
    await applied(cluster, await byDispatcher.accounts(cluster));
    const bench = { cluster, audit, dir };
    const inTable = {
      REKINDLE_CHECKPOINTS: `dynamodb://${table}?keepDays=90`,
      AWS_ENDPOINT_URL_DYNAMODB: store.endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    };
    const figures = [
      ...(await measured(bench, { name: "records-in-api-server", store: "the API server", env: {} })),
      ...(await measured(bench, { name: "records-in-table", store: "a table", env: inTable, aim: 12 })),
    ];
    await rm(dir, { recursive: true, force: true });
    return figures;
  } finally {
    await store.stop();
    await cluster.stop();
  }
};
