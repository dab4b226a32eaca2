/** A ClusterQueue of one flavor on a real Kueue, its LocalQueue, and Workloads of others that use its quota. */
import { fieldsOf, recordsIn } from "../../../../shared/core/json.ts";
import { patienceMs } from "../../cluster/api.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { must } from "../scene.ts";

const group = "/apis/kueue.x-k8s.io/v1beta2";
export const workloadsPath = `${group}/namespaces/default/workloads`;

const kinds = { resourceflavors: "ResourceFlavor", clusterqueues: "ClusterQueue", localqueues: "LocalQueue" } as const;

/** Creates an object of Kueue. */
export const createObject = async ({ api }: Cluster, path: string, object: object): Promise<void> => {
  const { status, body } = await api.call("POST", path, { apiVersion: "kueue.x-k8s.io/v1beta2", ...object });
  must(status === 201, `${path}: ${JSON.stringify(body)}`);
};

/**
 * Creates flavors with quota for as many pods of one cpu, and queues of this name that have them in this order; a Workload
 * of a higher priority takes quota of others.
 */
export const createQueues = async (
  cluster: Cluster,
  name: string,
  flavors: Readonly<Record<string, number>>,
  namespace = "default",
): Promise<void> => {
  const resourcesOf = (cpus: number) => [
    { name: "cpu", nominalQuota: cpus },
    { name: "memory", nominalQuota: "200Gi" },
  ];
  const one = (plural: keyof typeof kinds, spec: object, called = name) => ({
    ...{ kind: kinds[plural], metadata: { name: called }, spec },
  });
  for (const flavor of Object.keys(flavors))
    await createObject(cluster, `${group}/resourceflavors`, one("resourceflavors", {}, flavor));
  await createObject(
    cluster,
    `${group}/clusterqueues`,
    one("clusterqueues", {
      namespaceSelector: {},
      preemption: { withinClusterQueue: "LowerPriority" },
      resourceGroups: [
        {
          coveredResources: ["cpu", "memory"],
          flavors: Object.entries(flavors).map(([called, cpus]) => ({ name: called, resources: resourcesOf(cpus) })),
        },
      ],
    }),
  );
  await createObject(
    cluster,
    `${group}/namespaces/${namespace}/localqueues`,
    one("localqueues", { clusterQueue: name }),
  );
};

type Rival = { readonly name: string; readonly queue: string; readonly cpus: number; readonly priority: number };

/** Creates a Workload of somebody else for as many pods of one cpu. */
export const createRival = (cluster: Cluster, { name, queue, cpus, priority }: Rival): Promise<void> => {
  const container = { name: "main", image: "busybox:1.36", resources: { requests: { cpu: "1", memory: "64Mi" } } };
  const template = { spec: { restartPolicy: "Never", containers: [container] } };
  return createObject(cluster, workloadsPath, {
    kind: "Workload",
    metadata: { name, namespace: "default" },
    spec: { queueName: queue, priority, podSets: [{ name: "main", count: cpus, template }] },
  });
};

/** Resolves when Kueue has admitted the Workload. */
export const untilAdmitted = async ({ api }: Cluster, name: string): Promise<void> => {
  const isAdmitted = (body: unknown): boolean =>
    recordsIn(fieldsOf(fieldsOf(body)["status"])["conditions"]).some(
      ({ type, status }) => type === "Admitted" && status === "True",
    );
  await api.until(`${workloadsPath}/${name}`, ({ body }) => isAdmitted(body), patienceMs);
};

/** Resolves when there are Workloads whose names begin so, and each that is admitted says that its pods are ready. */
export const untilReady = async ({ api }: Cluster, prefix: string): Promise<void> => {
  const says = (one: Readonly<Record<string, unknown>>, wanted: string): boolean =>
    recordsIn(fieldsOf(one["status"])["conditions"]).some(({ type, status }) => type === wanted && status === "True");
  const areReady = (body: unknown): boolean => {
    const found = recordsIn(fieldsOf(body)["items"]).filter((one) =>
      String(fieldsOf(one["metadata"])["name"]).startsWith(prefix),
    );
    return found.length > 0 && found.every((one) => says(one, "PodsReady") || !says(one, "Admitted"));
  };
  await api.until(workloadsPath, ({ body }) => areReady(body), patienceMs);
};

/** Deletes the Workload of somebody else, which frees its quota. */
export const deleteRival = async ({ api }: Cluster, name: string): Promise<void> => {
  await api.call("DELETE", `${workloadsPath}/${name}`);
  await api.until(`${workloadsPath}/${name}`, ({ status }) => status === 404, 30_000);
};
