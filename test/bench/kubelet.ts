/** Writes the statuses of drivers and executors as a kubelet would: no node, no Spark, and fully deterministic. */
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Api } from "../real/cluster/api.ts";

const pod = z.object({
  metadata: z.object({ name: z.string(), uid: z.string(), labels: z.record(z.string(), z.string()) }),
});
export type Pod = z.infer<typeof pod>;
const pods = z.object({ items: z.array(pod) });

export const collection = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/default/sparkapplications";
export const podsPath = "/api/v1/namespaces/default/pods";
const image = "docker.io/apache/spark:4.1.1";

export type Life = {
  readonly executors: number;
  /** Number of executors that are killed; each is replaced, as by Spark. */
  readonly losses: number;
  /** Time between two changes, as in a cluster that pulls, starts and computes. */
  readonly paceMs: number;
};

const manifest = (name: string, instances: number): object => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name, namespace: "default" },
  spec: {
    type: "Scala",
    mode: "cluster",
    sparkVersion: "4.1.1",
    image,
    mainClass: "org.apache.spark.examples.SparkPi",
    mainApplicationFile: "local:///opt/spark/examples/jars/spark-examples.jar",
    driver: { cores: 1, memory: "512m", serviceAccount: "spark" },
    executor: { instances: Math.max(1, instances), cores: 1, memory: "512m" },
  },
});

type Calls = Pick<Api, "call">;

const must = async (api: Calls, method: string, path: string, body?: unknown, type?: string): Promise<unknown> => {
  const reply = await api.call(method, path, body, type);
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`);
  return reply.body;
};

const states = {
  creating: { phase: "Pending", state: { waiting: { reason: "ContainerCreating" } }, ready: false },
  running: { phase: "Running", state: { running: { startedAt: "2026-01-01T00:00:00Z" } }, ready: true },
  succeeded: { phase: "Succeeded", state: { terminated: { exitCode: 0, reason: "Completed" } }, ready: false },
  killed: { phase: "Failed", state: { terminated: { exitCode: 137, reason: "Error" } }, ready: false },
} as const;

export const report = async (
  api: Calls,
  { metadata }: Pod,
  container: string,
  as: keyof typeof states,
): Promise<void> => {
  const { phase, state, ready } = states[as];
  const containerStatuses = [{ name: container, image, imageID: "", restartCount: 0, ready, state }];
  const conditions = [
    { type: "PodScheduled", status: "True" },
    { type: "Ready", status: ready ? "True" : "False" },
  ];
  const status = { phase, conditions, containerStatuses, ...(as === "creating" ? {} : { podIP: "10.244.0.9" }) };
  const path = `${podsPath}/${metadata.name}/status`;
  await must(api, "PATCH", path, { status }, "application/merge-patch+json");
};

const driverOf = async (api: Api, name: string): Promise<Pod> => {
  const selector = encodeURIComponent(`sparkoperator.k8s.io/app-name=${name},spark-role=driver`);
  const until = performance.now() + 60_000;
  for (;;) {
    const [found] = pods.parse(await must(api, "GET", `${podsPath}?labelSelector=${selector}`)).items;
    if (found !== undefined) return found;
    if (performance.now() > until) throw new Error(`${name} has no driver after a minute`);
    await sleep(100);
  }
};

export const driverContainer = "spark-kubernetes-driver";
export const executorContainer = "spark-kubernetes-executor";

/** Creates an executor as the driver does: its labels, role and id, and the driver as its owner. */
export const createExecutor = async (api: Calls, driver: Pod, id: number, more: object = {}): Promise<Pod> => {
  const { name, uid, labels } = driver.metadata;
  const body = {
    metadata: {
      name: `${name}-exec-${id}`,
      labels: { ...labels, "spark-role": "executor", "spark-exec-id": String(id) },
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid, controller: true }],
    },
    spec: { ...more, restartPolicy: "Never", containers: [{ name: executorContainer, image }] },
  };
  return pod.parse(await must(api, "POST", podsPath, body));
};

/** Without nodes the scheduler would write that an executor cannot be placed, which is news of its own. */
const unscheduled = { schedulerName: "none" };

const startExecutors = async (api: Api, driver: Pod, ids: readonly number[], paceMs: number): Promise<Pod[]> => {
  const made = await Promise.all(ids.map((id) => createExecutor(api, driver, id, unscheduled)));
  for (const as of ["creating", "running"] as const) {
    await sleep(paceMs);
    await Promise.all(made.map((one) => report(api, one, executorContainer, as)));
  }
  return made;
};

/** Runs one application from its creation until it is COMPLETED. */
export const live = async (api: Api, name: string, { executors, losses, paceMs }: Life): Promise<void> => {
  await must(api, "POST", collection, manifest(name, executors));
  const driver = await driverOf(api, name);
  for (const as of ["creating", "running"] as const) {
    await sleep(paceMs);
    await report(api, driver, driverContainer, as);
  }
  await sleep(paceMs);
  const ids = Array.from({ length: executors }, (_, index) => index + 1);
  const alive = executors === 0 ? [] : await startExecutors(api, driver, ids, paceMs);
  for (let lost = 0; lost < losses; lost++) {
    const [victim] = alive.splice(0, 1);
    if (victim === undefined) throw new Error("there is no executor left to lose");
    await sleep(paceMs);
    await report(api, victim, executorContainer, "killed");
    await sleep(paceMs);
    alive.push(...(await startExecutors(api, driver, [executors + lost + 1], paceMs)));
  }
  await sleep(paceMs);
  await Promise.all(
    alive.map(({ metadata }) => must(api, "DELETE", `${podsPath}/${metadata.name}`, { gracePeriodSeconds: 0 })),
  );
  await report(api, driver, driverContainer, "succeeded");
  await api.until(`${collection}/${name}`, ({ body }) => JSON.stringify(body).includes('"state":"COMPLETED"'), 120_000);
};
