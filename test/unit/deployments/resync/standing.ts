/** A cluster whose objects have a value for each gauge, and the parts that tell gauges of it. */
import { request } from "../../../../shared/adapters/kubernetes/requests.ts";
import type { Obj } from "../../../../shared/core/object.ts";
import { openNamespaceScope } from "../../../../shared/deployments/common/namespaces.ts";
import { families } from "../../../../shared/kube/resources.ts";
import { openSimulator } from "../../../../shared/simulator/open.ts";
import { crds } from "../../../support/crds.ts";
import { kueueCrds } from "../../../support/kueue.ts";

const spark = "/apis/sparkoperator.k8s.io/v1beta2";
const batch = "/apis/batch.volcano.sh/v1alpha1";
const scheduling = "/apis/scheduling.volcano.sh/v1beta1";
const inDefault = (group: string, plural: string): string => `${group}/namespaces/default/${plural}`;

const sparkSpec = {
  ...{ type: "Scala", mainClass: "a.B", mainApplicationFile: "local:///a.jar", sparkVersion: "4.1.1", image: "i" },
  ...{ driver: {}, executor: {} },
};
const template = { spec: { containers: [{ name: "c", image: "i" }] } };
const jobSpec = { queue: "q", tasks: [{ name: "t", replicas: 1, template }] };
export const running = { driverInfo: {}, applicationState: { state: "RUNNING" }, executorState: { "pi-1": "RUNNING" } };
const phases = ["Pending", "Inqueue", "Running", "Unknown", "Completed"] as const;

/** A value of each gauge of objects: collections, objects, and their statuses where these are subresources. */
const standing: readonly (readonly [path: string, object: Obj, status: object | undefined])[] = [
  [
    inDefault(spark, "sparkapplications"),
    { apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", metadata: { name: "pi" }, spec: sparkSpec },
    running,
  ],
  [
    inDefault("/apis/spark.apache.org/v1", "sparkclusters"),
    {
      ...{ apiVersion: "spark.apache.org/v1", kind: "SparkCluster", metadata: { name: "c" } },
      spec: {
        runtimeVersions: { sparkVersion: "4.2.0" },
        clusterTolerations: { instanceConfig: { initWorkers: 1, minWorkers: 1, maxWorkers: 1 } },
      },
    },
    { currentState: { currentStateSummary: "RunningHealthy", lastTransitionTime: "2026-11-02T08:00:00Z" } },
  ],
  [
    inDefault(batch, "jobs"),
    { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", metadata: { name: "j" }, spec: jobSpec },
    { state: { phase: "Running" }, running: 1 },
  ],
  [
    `${scheduling}/queues`,
    { apiVersion: "scheduling.volcano.sh/v1beta1", kind: "Queue", metadata: { name: "q" }, spec: {} },
    { state: "Open", allocated: { cpu: "1500m", memory: "2Gi" } },
  ],
  ...phases.map(
    (phase) =>
      [
        inDefault(scheduling, "podgroups"),
        {
          ...{ apiVersion: "scheduling.volcano.sh/v1beta1", kind: "PodGroup" },
          ...{ metadata: { name: phase.toLowerCase() }, spec: { queue: "q", minMember: 1 }, status: { phase } },
        },
        undefined,
      ] as const,
  ),
];

const asked: Obj = {
  ...{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload" },
  metadata: {
    name: "pi-grow-1",
    labels: { "app.kubernetes.io/managed-by": "rekindle", "rekindle.dev/app-uid": "a" },
    ownerReferences: [{ apiVersion: "kueue.x-k8s.io/v1beta2", kind: "Workload", name: "pi", uid: "w" }],
  },
  spec: { podSets: [{ name: "executor", count: 3, template: { spec: { containers: [] } } }] },
};

const updates = { kind: "SparkApplication", namespace: "default", name: "pi", uid: "u", updates: "stream" };
const hints = async () => [{ ...updates, generation: 1, rests: false, wakeAt: undefined, pruneAt: undefined }];

/** Opens a cluster that has a value for each gauge of objects, and the parts that tell them. */
export const openStanding = async () => {
  const { transport, clock } = openSimulator({ crds: [...crds, ...kueueCrds] });
  await request(transport, "POST", inDefault("/apis/kueue.x-k8s.io/v1beta2", "workloads"), asked);
  for (const [path, object, status] of standing) {
    await request(transport, "POST", path, object);
    if (status === undefined) continue;
    const at = `${path}/${object.metadata.name}`;
    const found = await request(transport, "GET", at);
    await request(transport, "PUT", `${at}/status`, { ...found, status });
  }
  const namespaceScope = openNamespaceScope({ namespaces: [], transport, report: () => {}, now: () => 0 });
  const lines: string[] = [];
  const reports: string[] = [];
  const parts = {
    ...{ transport, namespaceScope, hints, cluster: "prod", families, now: () => clock.now() + 60_000 },
    standing: () => new Map([["Volcano", ["Volcano runs as the deployment ops/controllers"]]]),
    unheard: () => 3,
    print: (line: string): void => void lines.push(line),
    report: (level: string, text: string): void => void reports.push(`${level} ${text}`),
  };
  return { parts, lines, reports };
};
