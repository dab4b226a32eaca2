/**
 * An application of `spark.apache.org` in a queue of a real Kueue: it waits while others use the quota, runs with real Spark,
 * loses its driver to a higher priority, runs again without a restart, and gives its quota back.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fieldsOf, recordsIn } from "../../../../shared/core/json.ts";
import { apachePi, created, hostArgs, plural } from "../apache/applications.ts";
import { type Case, kubectl, must, running, type Scene } from "../scene.ts";
import { missing, startKueue } from "./controller.ts";
import { createQueues, createRival, deleteRival, untilAdmitted, untilReady, workloadsPath } from "./queues.ts";

const name = "apache-queued";
const path = `/apis/spark.apache.org/v1/namespaces/default/sparkapplications/${name}`;
const selector = `labelSelector=${encodeURIComponent(`spark.operator/spark-app-name=${name}`)}`;
const podsPath = `/api/v1/namespaces/default/pods?${selector}`;
const patientMs = 300_000;
/** For a driver and an executor. */
const cpus = 2;

const itemsIn = (body: unknown) => recordsIn(fieldsOf(body)["items"]);

const stateIn = (body: unknown) => fieldsOf(fieldsOf(fieldsOf(body)["status"])["currentState"]);

const untilState = async ({ cluster: { api } }: Scene, state: string, says = /./): Promise<void> => {
  const holds = (body: unknown): boolean =>
    stateIn(body)["currentStateSummary"] === state && says.test(String(stateIn(body)["message"] ?? " "));
  await api.until(path, ({ body }) => holds(body), patientMs);
};

const mustHaveNoPod = async ({ cluster: { api } }: Scene, while_: string): Promise<void> => {
  await sleep(3_000);
  const { body } = await api.call("GET", podsPath);
  must(itemsIn(body).length === 0, `${itemsIn(body).length} pods ${while_}`);
};

const rival = (scene: Scene, called: string, priority: number): Promise<void> =>
  createRival(scene.cluster, { name: called, queue: name, cpus, priority });

const ownWorkloads = async ({ cluster: { api } }: Scene): Promise<readonly unknown[]> =>
  itemsIn((await api.call("GET", workloadsPath)).body).filter((one) =>
    recordsIn(fieldsOf(one["metadata"])["ownerReferences"]).some((owner) => owner["name"] === name),
  );

const lifeOf = async (scene: Scene): Promise<readonly string[]> => {
  const { cluster } = scene;
  await createQueues(cluster, name, { [name]: cpus });
  await rival(scene, "other-apache", 0);
  await untilAdmitted(cluster, "other-apache");
  const app = apachePi(name, "4.1.1", { driverArgs: ["200"] });
  await created(scene, { ...app, metadata: { ...app.metadata, labels: { "kueue.x-k8s.io/queue-name": name } } });
  await untilState(scene, "Submitted", /waits until Kueue admits Workload sparkapplication-apache-queued-/);
  await mustHaveNoPod(scene, "while others use the quota");
  await deleteRival(cluster, "other-apache");
  await untilState(scene, "RunningHealthy");
  await untilReady(cluster, `sparkapplication-${name}-`);
  await rival(scene, "urgent-apache", 1_000);
  await untilState(scene, "ScheduledToRestart", /Kueue/);
  // Kueue admits the rival only when the quota has been given back.
  await untilAdmitted(cluster, "urgent-apache");
  await mustHaveNoPod(scene, "after the quota was given back");
  await deleteRival(cluster, "urgent-apache");
  await untilState(scene, "RunningHealthy");
  await untilState(scene, "ResourceReleased");
  const { body } = await cluster.api.call("GET", path);
  const info = fieldsOf(fieldsOf(fieldsOf(fieldsOf(body)["status"])["currentAttemptSummary"])["attemptInfo"]);
  must(info["id"] === 1 && info["restartCounter"] === 0, `the attempt is ${JSON.stringify(info)}`);
  must((await ownWorkloads(scene)).length === 0, "its Workload is left");
  await kubectl(cluster, ["delete", plural, name, "--wait", "--timeout=60s"]);
  return ["waited, admitted, evicted, admitted again without a restart, ended, its quota given back"];
};

export const apacheQueued: Case = {
  name: "Kueue: an application of spark.apache.org waits, runs, loses its driver to a higher priority, runs again without a restart, and ends",
  run: async (scene) => {
    const kueue = await startKueue(scene.cluster);
    if (kueue === undefined) return missing;
    try {
      return await running(scene, () => lifeOf(scene), hostArgs);
    } finally {
      await kueue.stop();
    }
  },
};
