/**
 * A Volcano Job in a queue of Kueue, on a real API server with Kueue's own definitions and the validation in them. The
 * case plays Kueue's controller as admin: it reserves quota, admits, evicts and admits again, and the host under the
 * shipped account does the rest.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Obj } from "../../../../shared/core/object.ts";
import { evicted, flavorOf, reserved } from "../../../support/kueue.ts";
import { patienceMs } from "../../cluster/api.ts";
import { kueueFiles } from "../../setup/kueue.ts";
import { type Case, kubectl, must, running, type Scene } from "../scene.ts";

const workloads = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";
const flavors = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors";
const jobs = "/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs";
const pods = `/api/v1/namespaces/default/pods?labelSelector=${encodeURIComponent("volcano.sh/job-name=admitted")}`;

const merge = "application/merge-patch+json";
const flavor = "linux";

const task = (name: string, replicas: number, seconds: number): object => ({
  ...{ name, replicas },
  template: {
    spec: {
      restartPolicy: "Never",
      containers: [{ name: "main", image: "busybox:1.36", command: ["sleep", `${seconds}`] }],
    },
  },
});

const job = {
  ...{ apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job" },
  metadata: { name: "admitted", namespace: "default", labels: { "kueue.x-k8s.io/queue-name": "team-a" } },
  spec: { minAvailable: 3, schedulerName: "default-scheduler", tasks: [task("work", 2, 12), task("tail", 1, 24)] },
};

const install = async ({ cluster }: Scene, folder: string): Promise<void> => {
  for (const file of await readdir(folder))
    await kubectl(cluster, ["apply", "--server-side", "-f", join(folder, file)]);
  for (const path of [workloads, flavors]) await cluster.api.until(path, ({ status }) => status === 200, 30_000);
  const body = { ...flavorOf(flavor), spec: { nodeLabels: { "kubernetes.io/os": "linux" } } };
  const { status } = await cluster.api.call("POST", flavors, body);
  must(status === 201, `the flavor was answered ${status}`);
};

const itemsAt = async ({ cluster }: Scene, path: string): Promise<readonly Obj[]> => {
  const { status, body } = await cluster.api.call("GET", path);
  must(status === 200, `GET ${path} was answered ${status}`);
  return Object(body).items;
};

/** Awaits that the job's pods are as many, each in this phase. */
const awaitPods = async ({ cluster }: Scene, count: number, phase: string): Promise<readonly Obj[]> => {
  const holds = (body: unknown): boolean => {
    const items: readonly Obj[] = Object(body).items ?? [];
    return items.length === count && items.every((pod) => Object(pod["status"]).phase === phase);
  };
  const { body } = await cluster.api.until(pods, (reply) => holds(reply.body), patienceMs);
  return Object(body).items;
};

const awaitWorkload = async ({ cluster }: Scene, what: string, holds: (workload: Obj) => boolean): Promise<Obj> => {
  const found = (body: unknown): Obj | undefined => Object(body).items?.[0];
  const there = (body: unknown): boolean => {
    const workload = found(body);
    return workload !== undefined && holds(workload);
  };
  const { body } = await cluster.api.until(workloads, (reply) => there(reply.body), patienceMs);
  const workload = found(body);
  if (workload === undefined) throw new Error(`no Workload that is ${what}`);
  return workload;
};

const is = (workload: Obj, type: string, status = "True"): boolean =>
  Object(workload["status"]).conditions?.some(
    (one: Readonly<Record<string, unknown>>) => one["type"] === type && one["status"] === status,
  ) ?? false;

/** Writes a status as Kueue's controller. */
const put = async ({ cluster }: Scene, { metadata: { name } }: Obj, status: unknown): Promise<void> => {
  const reply = await cluster.api.call("PATCH", `${workloads}/${name}/status`, { status }, merge);
  must(reply.status === 200, `the status of ${name} was answered ${reply.status}: ${JSON.stringify(reply.body)}`);
};

const noPodFor = async (scene: Scene, ms: number, while_: string): Promise<void> => {
  await sleep(ms);
  const there = await itemsAt(scene, pods);
  must(there.length === 0, `${there.length} pods ${while_}`);
};

/** Admits the Workload, and awaits pods on the nodes of its flavor. */
const admit = async (scene: Scene): Promise<void> => {
  const workload = await awaitWorkload(scene, "queued", (one) => !is(one, "QuotaReserved"));
  await put(scene, workload, reserved(workload, flavor, Date.now(), true));
  for (const { metadata, spec } of await awaitPods(scene, 3, "Running")) {
    must(Object(spec).nodeSelector?.["kubernetes.io/os"] === "linux", `${metadata.name} lacks the flavor's label`);
    const set = metadata.annotations?.["volcano.sh/task-spec"];
    must(metadata.labels?.["kueue.x-k8s.io/podset"] === set, `${metadata.name} lacks the label of its pod set`);
  }
};

const lifeOf = async (scene: Scene): Promise<readonly string[]> => {
  const { api } = scene.cluster;
  const posted = await api.call("POST", jobs, job);
  must(posted.status === 201, `the job was answered ${posted.status}`);
  const queued = await awaitWorkload(scene, "made", () => true);
  must(Object(queued["spec"]).queueName === "team-a", "its Workload is in another queue");
  await noPodFor(scene, 2_000, "before any quota is reserved");
  await put(scene, queued, reserved(queued, flavor, Date.now(), false));
  await noPodFor(scene, 2_000, "while admission checks are open");
  await put(scene, queued, evicted(queued, "AdmissionCheck", Date.now()));
  await admit(scene);
  const ready = await awaitWorkload(scene, "ready", (one) => is(one, "PodsReady"));
  await put(scene, ready, evicted(ready, "Preempted", Date.now()));
  await awaitWorkload(scene, "given back", (one) => is(one, "Requeued") && is(one, "QuotaReserved", "False"));
  must(
    (await itemsAt(scene, pods)).every((pod) => Object(pod["status"]).phase !== "Running"),
    "pods without quota",
  );
  await admit(scene);
  const reclaimed = [{ name: "work", count: 2 }];
  await awaitWorkload(scene, "reclaimable in part", (one) =>
    isDeepStrictEqual(Object(one["status"]).reclaimablePods, reclaimed),
  );
  await api.until(`${jobs}/admitted`, ({ body }) => Object(body).status?.state?.phase === "Completed", patienceMs);
  await awaitWorkload(scene, "finished", (one) => is(one, "Finished"));
  const { body } = await api.call("GET", `${jobs}/admitted`);
  const { retryCount = 0 } = Object(body).status;
  must(retryCount === 0, `${retryCount} retries were spent`);
  return ["reserved, admitted, evicted, admitted again, quota of two pods given back, completed"];
};

export const kueuedJob: Case = {
  name: "Kueue: a Volcano Job waits for its Workload, loses its pods with its quota, runs again, and gives its quota back",
  run: async (scene) => {
    const files = kueueFiles();
    if (files === undefined) return { missing: "Kueue's definitions: npm run setup -- kueue" };
    await install(scene, files.definitions);
    return await running(scene, () => lifeOf(scene));
  },
};
