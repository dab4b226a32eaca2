/**
 * The fixture of this lane: a real cluster with an audit log of Rekindle's accounts, upstream on it, and the applications
 * that upstream left.
 */

import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Stored } from "../../../../shared/core/object.ts";
import { leftBy } from "../../../support/left.ts";
import { migratorRules, moverRules } from "../../../support/migrator.ts";
import { sparkPi } from "../../../support/pi.ts";
import { patienceMs } from "../../cluster/api.ts";
import { type Audit, openAudit } from "../../cluster/audit.ts";
import { type Cluster, startCluster } from "../../cluster/cluster.ts";
import { install } from "../installed.ts";
import { leaveRights } from "../rights.ts";
import { installKubeflow, type Kubeflow } from "./kubeflow.ts";
import { applyAll, stored } from "./upstream.ts";

export type Fixture = {
  readonly dir: string;
  readonly cluster: Cluster;
  readonly audit: Audit;
  /** `host` is the shipped account; `migrator` has only the documented rights of a migration. */
  readonly kubeconfigs: { readonly host: string; readonly migrator: string };
  readonly kubeflow: Kubeflow;
  stop(): Promise<void>;
};

export const applications = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";

export const migrator = async (cluster: Cluster): Promise<string> => {
  const metadata = { name: "migrator" };
  const rbac = "rbac.authorization.k8s.io";
  await applyAll(cluster, [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { ...metadata, namespace: "default" } },
    { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata, rules: [...migratorRules, ...moverRules] },
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata,
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "migrator" },
      subjects: [{ kind: "ServiceAccount", name: "migrator", namespace: "default" }],
    },
  ]);
  return await cluster.kubeconfigOf("default", "migrator");
};

export const openFixture = async (dir: string, recorded: string): Promise<Fixture> => {
  const audit = await openAudit(dir, "rekindle", "rekindle");
  const cluster = await startCluster({ nodes: 1, dir, extra: audit.flags });
  try {
    const host = await install(cluster, `${recorded}/crds`);
    const kubeflow = await installKubeflow(cluster, recorded);
    const stop = async (): Promise<void> => {
      await kubeflow.stop();
      await leaveRights({ lane: "migrate-spark" }, audit);
      await cluster.stop();
    };
    return { dir, cluster, audit, kubeconfigs: { host, migrator: await migrator(cluster) }, kubeflow, stop };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
};

const objectOf = (name: string, slices: number, more: object = {}) =>
  sparkPi(name, { arguments: [String(slices)], restartPolicy: { type: "Never" }, ...more });

export const create = async (
  { cluster }: Pick<Fixture, "cluster">,
  name: string,
  slices: number,
  more?: object,
): Promise<Stored> => {
  await applyAll(cluster, [objectOf(name, slices, more)]);
  return await stored(cluster.api, `${applications}/${name}`);
};

const made = async ({ cluster }: Fixture, path: string, object: unknown): Promise<void> => {
  const reply = await cluster.api.call("POST", path, object);
  if (reply.status !== 201) throw new Error(`${path}: ${JSON.stringify(reply.body)}`);
};

/** Replaces the status under upstream's account. */
const tell = async ({ kubeflow }: Fixture, name: string, status: object): Promise<void> => {
  const path = `${applications}/${name}`;
  const { status: code, body } = await kubeflow.api.call("PUT", `${path}/status`, {
    ...(await stored(kubeflow.api, path)),
    status,
  });
  if (code !== 200) throw new Error(`${path}/status: ${JSON.stringify(body)}`);
};

const plurals: Readonly<Record<string, string>> = { Service: "services", ConfigMap: "configmaps" };
const core = "/api/v1/namespaces/default";

/** Creates a real driver as upstream submits it, and waits until its executor runs; its status says RUNNING. */
export const leaveRunning = async (fixture: Fixture, name: string, slices: number): Promise<string> => {
  const application = await create(fixture, name, slices);
  const id = "11111111-2222-4333-8444-555555555555";
  const left = leftBy(application, id, Date.now());
  await made(fixture, `${core}/pods`, left.driver);
  const driver = await stored(fixture.cluster.api, `${core}/pods/${left.driver.metadata.name}`);
  for (const object of left.others(driver)) await made(fixture, `${core}/${plurals[object.kind]}`, object);
  await tell(fixture, name, left.status("SUBMITTED"));
  const selector = encodeURIComponent(`spark-role=executor,sparkoperator.k8s.io/submission-id=${id}`);
  const running = z.object({
    items: z
      .array(
        z.looseObject({ metadata: z.object({ name: z.string() }), status: z.object({ phase: z.literal("Running") }) }),
      )
      .min(1),
  });
  await fixture.cluster.api.until(
    `${core}/pods?labelSelector=${selector}`,
    ({ body }) => running.safeParse(body).success,
    patienceMs,
  );
  const { items } = running.parse(
    (await fixture.cluster.api.call("GET", `${core}/pods?labelSelector=${selector}`)).body,
  );
  const executorState = Object.fromEntries(items.map(({ metadata }) => [metadata.name, "RUNNING"]));
  await tell(fixture, name, { ...left.status("RUNNING"), executorState });
  return driver.metadata.uid;
};

/** Creates applications of which only the status is left, in states at rest. */
export const leaveAtRest = async (fixture: Fixture): Promise<readonly string[]> => {
  const submitted = {
    submissionID: "22222222-2222-4333-8444-555555555555",
    submissionAttempts: 2,
    executionAttempts: 2,
  };
  const time = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+Z$/, "Z");
  const base = { ...submitted, driverInfo: {}, lastSubmissionAttemptTime: time, terminationTime: null };
  const retry = { type: "OnFailure", onFailureRetries: 5, onFailureRetryInterval: 3_600 };
  const rows = [
    ["left-done", {}, { ...base, applicationState: { state: "COMPLETED" }, terminationTime: time }],
    ["left-suspended", { suspend: true }, { ...base, applicationState: { state: "SUSPENDED" } }],
    [
      "left-failing",
      { restartPolicy: retry },
      { ...base, applicationState: { state: "FAILING", errorMessage: "x" }, terminationTime: time },
    ],
  ] as const;
  for (const [name, more, status] of rows) {
    await create(fixture, name, 1, more);
    await tell(fixture, name, status);
  }
  return rows.map(([name]) => name);
};

/** Resolves when the condition holds; throws `what` at the timeout. */
export const until = async (what: string, isSo: () => Promise<boolean>, timeoutMs: number): Promise<void> => {
  const end = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`still not after ${timeoutMs / 1_000} s: ${what}`);
    await sleep(500);
  }
};
