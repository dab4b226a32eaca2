/**
 * A Volcano Job in a queue of a real Kueue that has quota for a part of its pods: the Job runs with these, loses them to a
 * higher priority, and runs with all of them when there is quota.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { fieldsOf, recordsIn } from "../../../../shared/core/json.ts";
import { patienceMs } from "../../cluster/api.ts";
import { type Case, must, running, type Scene } from "../scene.ts";
import { missing, startKueue } from "./controller.ts";
import { createQueues, createRival, deleteRival, untilAdmitted, workloadsPath } from "./queues.ts";

const name = "in-part";
const jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
const podsPath = `/api/v1/namespaces/default/pods?labelSelector=${encodeURIComponent(`volcano.sh/job-name=${name}`)}`;

const container = {
  ...{ name: "main", image: "busybox:1.36", command: ["sleep", "25"] },
  resources: { requests: { cpu: "1", memory: "64Mi" } },
};

const job = {
  ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job" },
  metadata: {
    ...{ name, namespace: "default", labels: { "kueue.x-k8s.io/queue-name": name } },
    annotations: { "rekindle.dev/partial-admission": "worker" },
  },
  spec: {
    ...{ minAvailable: 2, schedulerName: "default-scheduler" },
    tasks: [
      {
        ...{ name: "worker", replicas: 4, minAvailable: 2 },
        template: { spec: { restartPolicy: "Never", containers: [container] } },
      },
    ],
  },
};

const phaseOf = (pod: unknown): unknown => fieldsOf(fieldsOf(pod)["status"])["phase"];

const podsIn = (body: unknown): readonly unknown[] => recordsIn(fieldsOf(body)["items"]);

/** Resolves when as many pods run, and no other is there; then no other comes for a while. */
const untilRunning = async ({ cluster: { api } }: Scene, count: number): Promise<void> => {
  const holds = (body: unknown): boolean =>
    podsIn(body).length === count && podsIn(body).every((pod) => phaseOf(pod) === "Running");
  await api.until(podsPath, ({ body }) => holds(body), patienceMs);
  await sleep(3_000);
  const { body } = await api.call("GET", podsPath);
  must(podsIn(body).length === count, `${podsIn(body).length} pods, and ${count} are admitted`);
};

/** The numbers of pods that the Job's Workload asks for, may be admitted with, and was admitted with. */
const numbersIn = async ({ cluster: { api } }: Scene): Promise<readonly unknown[]> => {
  const { body } = await api.call("GET", workloadsPath);
  const own = recordsIn(fieldsOf(body)["items"]).find((one) => {
    const { ownerReferences } = fieldsOf(one["metadata"]);
    return recordsIn(ownerReferences).some((owner) => owner["name"] === name);
  });
  const [set] = recordsIn(fieldsOf(own?.["spec"])["podSets"]);
  const [assigned] = recordsIn(fieldsOf(fieldsOf(own?.["status"])["admission"])["podSetAssignments"]);
  return [set?.["count"], set?.["minCount"], assigned?.["count"]];
};

const untilStatus = async ({ cluster: { api } }: Scene, what: RegExp): Promise<void> => {
  const textOf = (body: unknown): string => JSON.stringify(fieldsOf(fieldsOf(body)["status"])["state"] ?? {});
  await api.until(`${jobs}/${name}`, ({ body }) => what.test(textOf(body)), patienceMs);
};

const lifeOf = async (scene: Scene): Promise<readonly string[]> => {
  const { cluster } = scene;
  await createQueues(cluster, name, { [name]: 4 });
  await createRival(cluster, { name: "other-in-part", queue: name, cpus: 2, priority: 0 });
  await untilAdmitted(cluster, "other-in-part");
  const posted = await cluster.api.call("POST", jobs, job);
  must(posted.status === 201, `the job was answered ${posted.status}`);
  await untilRunning(scene, 2);
  const part = await numbersIn(scene);
  must(JSON.stringify(part) === "[4,2,2]", `the Workload has ${JSON.stringify(part)}`);
  await untilStatus(scene, /Kueue has admitted 2 of 4 pods of task worker/);
  await createRival(cluster, { name: "urgent-in-part", queue: name, cpus: 4, priority: 1_000 });
  await cluster.api.until(podsPath, ({ body }) => podsIn(body).length === 0, patienceMs);
  await deleteRival(cluster, "other-in-part");
  await untilAdmitted(cluster, "urgent-in-part");
  await deleteRival(cluster, "urgent-in-part");
  await untilRunning(scene, 4);
  const whole = await numbersIn(scene);
  must(JSON.stringify(whole) === "[4,2,4]", `the Workload has ${JSON.stringify(whole)}`);
  await untilStatus(scene, /"phase":"Completed"/);
  return ["admitted with 2 of 4 pods, evicted, admitted with all 4, completed"];
};

export const admittedInPart: Case = {
  name: "Kueue: a Volcano Job runs with two of four pods while there is quota for no more, and with all four after an eviction",
  run: async (scene) => {
    const kueue = await startKueue(scene.cluster);
    if (kueue === undefined) return missing;
    try {
      return await running(scene, () => lifeOf(scene));
    } finally {
      await kueue.stop();
    }
  },
};
