/**
 * `npm run e2e -- --migrate --family apache`: a migration from a stand-in of Apache's operator to Rekindle and back, with a
 * real driver that goes on through both, and through a change of its API meanwhile; on a real cluster with real Spark.
 */
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { patienceMs } from "../../cluster/api.ts";
import { type Audit, isWrite, openAudit } from "../../cluster/audit.ts";
import { type Cluster, startCluster } from "../../cluster/cluster.ts";
import { apachePi, created } from "../apache/applications.ts";
import { type Book, currentOf, openBook, statesOf } from "../apache/book.ts";
import { install, rekindle, startHost } from "../installed.ts";
import { leaveRights } from "../rights.ts";
import { must } from "../scene.ts";
import { type Act, played, type Result } from "./acts.ts";
import { applications, home, installApache, leaveRunning, operator } from "./apache.ts";
import { migrator, until } from "./fixture.ts";
import { noWritesSince } from "./proofs.ts";
import { pictureOf, stored } from "./upstream.ts";

type Story = {
  readonly cluster: Cluster;
  readonly audit: Audit;
  readonly book: Book;
  readonly log: string;
  readonly account: string;
  /** Upstream's configuration before the first act. */
  readonly before: string;
  /** UIDs of the drivers of `ends` and `stays`. */
  readonly drivers: Readonly<Record<"ends" | "stays", string>>;
};

const migrate = ({ account }: Story, ...args: readonly string[]): Promise<string> =>
  rekindle(["migrate", "--family", "apache", "--kubeconfig", account, ...args]);

const standbys = async (log: string): Promise<number> => (await readFile(log, "utf8")).split("standby: ").length - 1;

/** The traces that a second controller would have left: pods deleted or created under Rekindle's account. */
const touched = async ({ audit }: Story): Promise<readonly string[]> =>
  (await audit.read())
    .filter((request) => isWrite(request) && request.resource === "pods" && request.code < 300)
    .map(({ verb, name }) => `${verb} ${name}`);

const mustKeepDriver = async ({ cluster, drivers }: Story, name: "ends" | "stays"): Promise<void> => {
  const { metadata } = await stored(cluster.api, `/api/v1/namespaces/default/pods/${name}-0-driver`);
  must(metadata.uid === drivers[name], `${name} has another driver`);
};

const standsBy = async (story: Story): Promise<readonly string[]> => {
  const said = await migrate(story);
  for (const part of [
    new RegExp(`controller +${home}/${operator} +1 wanted, 1 there`),
    /its namespaces\n {2}default/,
    /2 +SparkApplication +RunningHealthy +adopted, and followed to its end/,
    /nothing stands in the way/,
  ])
    must(part.test(said), `the report does not say ${part}:\n${said}`);
  await sleep(12_000);
  must((await standbys(story.log)) > 0, "the host does not say that it stands by");
  await noWritesSince(story.audit, 0);
  return said.trim().split("\n");
};

const adopts = async (story: Story): Promise<readonly string[]> => {
  const { cluster, book } = story;
  const said = await migrate(story, "--apply", "--yes");
  must((await pictureOf(cluster, home)).includes(`${operator} 0`), "the operator is not scaled to zero");
  const page = await book.until("ends", "released", (one) => currentOf(one) === "ResourceReleased", patienceMs);
  must(page.drivers.size === 1 && page.faults.length === 0, `${[...page.drivers.keys()]}; ${page.faults.join("; ")}`);
  await mustKeepDriver(story, "stays");
  return [...said.trim().split("\n").slice(-4), `ends: ${statesOf(page).join(" → ")}, by one driver`];
};

const shape = z.looseObject({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({ name: z.string(), uid: z.string(), deletionTimestamp: z.string().optional() }),
    }),
  ),
});

/** Names and UIDs of the pods of one driver's run that are not being deleted. */
const podsOf = async (cluster: Cluster, applicationId: string): Promise<readonly string[]> => {
  const selector = encodeURIComponent(`spark-app-selector=${applicationId}`);
  const { body } = await cluster.api.call("GET", `/api/v1/namespaces/default/pods?labelSelector=${selector}`);
  return shape
    .parse(body)
    .items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata: { name, uid } }) => `${name} ${uid}`)
    .sort();
};

/** The status of the application in an API; undefined where that has none of the name. */
const statusIn = async (cluster: Cluster, group: string, name: string): Promise<unknown> => {
  const version = group === "spark.apache.org" ? "v1" : "v1beta2";
  const path = `/apis/${group}/${version}/namespaces/default/sparkapplications/${name}`;
  const { status: code, body } = await cluster.api.call("GET", path);
  return code === 404 ? undefined : (z.looseObject({ status: z.unknown() }).parse(body).status ?? {});
};

/** The two APIs, in the order of the act: each with what the status of a running application shows, its executors counted. */
const apis = [
  ["sparkoperator.k8s.io", ['"state":"RUNNING"', '-exec-1":"RUNNING"']],
  ["spark.apache.org", ['"currentState":{"currentStateSummary":"RunningHealthy"']],
] as const;

const changes = async (story: Story): Promise<readonly string[]> => {
  const { cluster, account } = story;
  const before = await podsOf(cluster, "stays-0");
  must(before.length >= 2, `stays has no executor: ${before.join(", ")}`);
  const lines: string[] = [];
  for (const [group, shown] of apis) {
    const other = apis.find(([one]) => one !== group)?.[0] ?? "";
    const args = ["migrate", "stays", "-n", "default", "--to", group, "--kubeconfig", account];
    must(/nothing stands in the way/.test(await rekindle(args)), "something stands in the way");
    const began = Date.now();
    const said = await rekindle([...args, "--apply", "--yes"]);
    const seconds = Math.round((Date.now() - began) / 1_000);
    const what = `stays runs under ${group} alone`;
    await until(
      what,
      async () => {
        const status = JSON.stringify(await statusIn(cluster, group, "stays"));
        return shown.every((part) => status?.includes(part)) && (await statusIn(cluster, other, "stays")) === undefined;
      },
      patienceMs,
    );
    await sleep(20_000);
    const after = await podsOf(cluster, "stays-0");
    must(String(after) === String(before), `other pods: ${after.join(", ")} where ${before.join(", ")} were`);
    await mustKeepDriver(story, "stays");
    lines.push(`${what} (${seconds} s): ${said.trim().split("\n").at(-1)}`);
  }
  const deleted = (await touched(story)).filter((one) => / stays-/.test(one));
  must(deleted.length === 0, `a host wrote to its pods: ${deleted.join(", ")}`);
  return [...lines, `${before.length} pods before and after, 0 deleted: ${before.join(", ")}`];
};

const returns = async (story: Story): Promise<readonly string[]> => {
  const { cluster, book, log, before, audit } = story;
  await created({ cluster } as Parameters<typeof created>[0], apachePi("new", "4.1.1", { driverArgs: ["4000"] }));
  await book.until("new", "healthy", (one) => currentOf(one) === "RunningHealthy", patienceMs);
  const began = await standbys(log);
  await migrate(story, "--undo", "--yes");
  must((await pictureOf(cluster, home)) === before, `not as it was: ${await pictureOf(cluster, home)}`);
  await until("the host stands by again", async () => (await standbys(log)) > began, patienceMs);
  await noWritesSince(audit, Date.now());
  await mustKeepDriver(story, "stays");
  const { labels = {} } = (await stored(cluster.api, "/api/v1/namespaces/default/pods/new-0-driver")).metadata;
  must(labels["spark.operator/name"] === operator, `upstream would not find the driver: ${JSON.stringify(labels)}`);
  const { status } = await stored(cluster.api, `${applications}/new`);
  must(JSON.stringify(status).includes("stateTransitionHistory"), "upstream would find no history");
  const pods = await touched(story);
  const ofOthers = pods.filter((one) => / stays-/.test(one));
  must(ofOthers.length === 0, `its pods were touched: ${ofOthers.join(", ")}`);
  return [`${pods.length} writes to pods, none to those of the application that ran through both ways`];
};

const acts: readonly Act<Story>[] = [
  ["a host beside the operator stands by and writes nothing; the report changes nothing", standsBy],
  ["--apply: the operator stops, and an application that it left ends by its driver", adopts],
  ["a driver that changes its API while it runs, and back: 0 pods deleted", changes],
  ["--undo: everything as it was; what ran goes on, and what Rekindle began can be found", returns],
];

/** Runs one story on one cluster; it ends at the first act that fails. */
export const apacheMigrateLane = async (): Promise<readonly Result[]> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-e2e-migrate-apache-"));
  const log = join(dir, "host.log");
  console.log(`host log: ${log}`);
  const audit = await openAudit(dir, "rekindle", "rekindle");
  const cluster = await startCluster({ nodes: 1, dir, extra: audit.flags });
  const book = openBook(cluster.api);
  try {
    const kubeconfig = await install(cluster, undefined, undefined, ["spark", "volcano", "apache"]);
    await installApache(cluster);
    const drivers = {
      ends: await leaveRunning(cluster, "ends", 2_000),
      stays: await leaveRunning(cluster, "stays", 60_000),
    };
    // The cluster has no Volcano controller, so a host of all families would create the queues root and default.
    const host = startHost(kubeconfig, log, ["--families", "spark,apache"]);
    const account = await migrator(cluster);
    const story = { cluster, audit, book, log, account, drivers, before: await pictureOf(cluster, home) };
    await sleep(3_000);
    const results = await played(acts, story);
    await host.stop();
    return results;
  } finally {
    await book.stop();
    await leaveRights({ lane: "migrate-apache" }, audit);
    await cluster.stop();
  }
};
