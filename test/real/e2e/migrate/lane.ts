/**
 * `npm run e2e -- --migrate`: a migration from kubeflow's operator to Rekindle and back, with the running applications
 * adopted; on a real cluster with real Spark.
 */
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { patienceMs } from "../../cluster/api.ts";
import { isWrite } from "../../cluster/audit.ts";
import { type HostProcess, rekindle, startHost } from "../installed.ts";
import { must, pi } from "../scene.ts";
import { awaitState, driverLog, observe, stateOf } from "../witness.ts";
import { type Act, played, type Result } from "./acts.ts";
import { applications, create, type Fixture, leaveAtRest, leaveRunning, openFixture } from "./fixture.ts";
import { home } from "./kubeflow.ts";
import { noWritesSince, provesReturn } from "./proofs.ts";
import { pictureOf, stored } from "./upstream.ts";

/** The state that the acts hand on to each other. */
type Story = {
  readonly fixture: Fixture;
  readonly host: HostProcess;
  readonly log: string;
  readonly driver: string;
  readonly atRest: readonly string[];
  readonly witness: ReturnType<typeof observe>;
  /** Upstream's configuration before the first act. */
  readonly before: string;
};

const name = "left-running";

const migrate = ({ kubeconfigs }: Fixture, ...args: readonly string[]): Promise<string> =>
  rekindle(["migrate", "--kubeconfig", kubeconfigs.migrator, ...args]);

const versionsOf = ({ cluster }: Fixture, names: readonly string[]): Promise<readonly string[]> =>
  Promise.all(names.map(async (one) => (await stored(cluster.api, `${applications}/${one}`)).metadata.resourceVersion));

/** The audit log must also show the host's reads: an empty log proves nothing. */
const report = async ({ fixture, before, atRest }: Story): Promise<readonly string[]> => {
  const versions = await versionsOf(fixture, atRest);
  const said = await migrate(fixture);
  for (const part of [
    /controller +spark-operator\/spark-operator-controller +1 wanted, 1 there/,
    /lease +spark-operator\/spark-operator-controller-lock +renewed \d+ s ago by upstream/,
    /webhooks +mutating-webhook-configuration/,
    /1 +SparkApplication +RUNNING +adopted, and followed to its end/,
    /1 +SparkApplication +FAILING/,
    /nothing stands in the way/,
  ])
    must(part.test(said), `the report does not say ${part}:\n${said}`);
  must((await pictureOf(fixture.cluster, home)) === before, "the report changed something");
  must(String(await versionsOf(fixture, atRest)) === String(versions), "the report touched applications");
  return said.trim().split("\n");
};

const shadow = async ({ fixture, host, log, atRest }: Story): Promise<readonly string[]> => {
  const from = Date.now();
  const versions = await versionsOf(fixture, [...atRest, name]);
  await sleep(12_000);
  must(!host.exited(), "the host ended");
  must(
    (await readFile(log, "utf8")).includes("standby: kubeflow spark-operator holds the lease"),
    "it does not say that it stands aside",
  );
  const reads = (await fixture.audit.read()).filter((request) => !isWrite(request)).length;
  must(reads > 0, "the account of the API server is empty");
  await noWritesSince(fixture.audit, 0);
  must(String(await versionsOf(fixture, [...atRest, name])) === String(versions), "applications changed");
  return [`${reads} reads, 0 writes; ${Math.round((Date.now() - from) / 1_000)} s under a lease that was renewed`];
};

const apply = async ({ fixture }: Story): Promise<readonly string[]> => {
  const began = Date.now();
  const said = await migrate(fixture, "--apply", "--yes");
  const seconds = Math.round((Date.now() - began) / 1_000);
  const picture = await pictureOf(fixture.cluster, home);
  must(/controller 0/.test(picture) && /webhook 0/.test(picture), `not scaled to zero: ${picture}`);
  must(!picture.includes("failurePolicy"), `webhook configurations are left: ${picture}`);
  return [`${seconds} s`, ...said.trim().split("\n").slice(-8)];
};

const adopts = async ({ fixture, driver, witness, atRest }: Story): Promise<readonly string[]> => {
  const { cluster } = fixture;
  await create(fixture, "after", 2);
  const app = await awaitState(cluster.api, name, ["COMPLETED", "FAILED"], patienceMs);
  must(stateOf(app) === "COMPLETED", `${name} ended ${stateOf(app)}: ${JSON.stringify(app.status)}`);
  const drivers = [...witness.drivers().values()].flatMap((uids) => [...uids]);
  must(String(drivers) === driver, `drivers of ${name}: ${drivers.join(", ")}, not only ${driver}`);
  must(app.status?.executionAttempts === 1 && app.status.submissionAttempts === 1, "its counters changed");
  must(pi.test(await driverLog(cluster.api, `${name}-driver`)), "its driver's log does not say Pi");
  const about = (await fixture.audit.read()).filter((request) => isWrite(request) && request.name.startsWith("left-"));
  const deletes = about.filter(({ verb }) => verb.startsWith("delete"));
  must(deletes.length === 0, `deleted: ${deletes.map(({ resource, name: one }) => `${resource} ${one}`).join(", ")}`);
  const states = await Promise.all(
    atRest.map(
      async (one) =>
        `${one} ${stateOf(await awaitState(cluster.api, one, ["COMPLETED", "SUSPENDED", "FAILING"], 1_000))}`,
    ),
  );
  must(String(states) === "left-done COMPLETED,left-suspended SUSPENDED,left-failing FAILING", String(states));
  const after = await awaitState(cluster.api, "after", ["COMPLETED", "FAILED"], patienceMs);
  must(stateOf(after) === "COMPLETED", `a new application ended ${stateOf(after)}`);
  // The audit log has no names of created objects, so all creations of drivers are counted.
  const made = (await fixture.audit.read()).filter(
    ({ verb, resource, code }) => verb === "create" && resource === "pods" && code === 201,
  );
  must(made.length === 1, `${made.length} drivers were created, and not the new application's alone`);
  const executors = Object.values(app.status?.executorState ?? {});
  return [
    `${witness.states().join(" → ")}; one driver, 0 deletes; executors ${executors.join(", ")}`,
    ...states,
    "a new one ran under us, without upstream's webhooks",
  ];
};

const undo = async ({ fixture, before, log }: Story): Promise<readonly string[]> => {
  const { cluster, kubeflow, audit } = fixture;
  const names = [name, "left-done", "left-suspended", "left-failing", "after"];
  await sleep(3_000);
  const versions = async (): Promise<string> => String(await versionsOf(fixture, names));
  const then = await versions();
  const began = Date.now();
  await migrate(fixture, "--undo", "--yes");
  const seconds = Math.round((Date.now() - began) / 1_000);
  const from = Date.now();
  await provesReturn({ cluster, audit, home, before, leads: kubeflow.leads, versions }, then);
  const refused = await cluster.kubectl(["create", "--validate=false", "-f", "-"], {
    input: JSON.stringify({
      apiVersion: "sparkoperator.k8s.io/v1beta2",
      kind: "SparkApplication",
      metadata: { name: "late", namespace: "default" },
      spec: {},
    }),
  });
  must(/failed calling webhook/.test(refused.stderr), `its webhooks are not asked: ${refused.stderr}`);
  await noWritesSince(audit, from);
  must((await readFile(log, "utf8")).split("standby: ").length >= 3, "the host does not stand aside again");
  return [`${seconds} s; replicas and webhook configurations as before, upstream leads, 0 writes of ours`];
};

const acts: readonly Act<Story>[] = [
  ["the report tells what there is, and changes nothing", report],
  ["a host beside upstream's leader writes nothing", shadow],
  ["--apply: upstream stops, its webhook configurations are kept and removed", apply],
  ["what it left is adopted: a real driver runs on to COMPLETED, nothing is deleted or run again", adopts],
  ["--undo: everything as it was, and upstream leads", undo],
];

/**
 * Runs one story on one cluster; it ends at the first act that fails. `recorded` is the folder of upstream's recorded
 * files.
 */
export const migrateLane = async (recorded: string): Promise<readonly Result[]> => {
  const dir = await mkdtemp(join(tmpdir(), "rekindle-e2e-migrate-"));
  const log = join(dir, "host.log");
  console.log(`host log: ${log}`);
  const fixture = await openFixture(dir, recorded);
  const witness = observe(fixture.cluster.api, name);
  try {
    const driver = await leaveRunning(fixture, name, 4_500);
    const atRest = await leaveAtRest(fixture);
    await fixture.kubeflow.registerWebhooks();
    // The cluster has no Volcano controller, so a host of all families would create the queues root and default.
    const host = startHost(fixture.kubeconfigs.host, log, ["--families", "spark"]);
    const story = { fixture, host, log, driver, atRest, witness, before: await pictureOf(fixture.cluster, home) };
    const results = await played(acts, story);
    await host.stop();
    return results;
  } finally {
    await witness.stop();
    await fixture.stop();
  }
};
