/** Lives of a SparkCluster. Those with a fault of upstream's name it by its number in the specification. */
import type { Change } from "../../../../shared/simulator/storage/store.ts";
import { textAt } from "../fields.ts";
import { appName, namespace, type Scenario, type UserAction } from "../scenario.ts";

type Workers = { readonly initWorkers: number; readonly minWorkers: number; readonly maxWorkers: number };

const spec = (instanceConfig: Workers) => ({
  runtimeVersions: { sparkVersion: "4.2.0" },
  clusterTolerations: { instanceConfig },
  sparkConf: { "spark.kubernetes.container.image": "apache/spark:4.2.0", "spark.ui.reverseProxy": "true" },
});

const fixed: Workers = { initWorkers: 2, minWorkers: 2, maxWorkers: 2 };

const stateIs =
  (summary: string) =>
  ({ table, object }: Change): boolean =>
    table === "sparkclusters.spark.apache.org" &&
    object.metadata.name === appName &&
    textAt(object, "status", "currentState", "currentStateSummary") === summary;

const runs = stateIs("RunningHealthy");

const isApplied = ({ type, table, object }: Change): boolean =>
  type === "ADDED" && table === "sparkclusters.spark.apache.org" && object.metadata.name === appName;

const sets = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;
const services = `/api/v1/namespaces/${namespace}/services`;

/** The StatefulSet controller's report, in its stead. */
const reports = (role: "master" | "worker", readyReplicas: number, afterMs: number): UserAction => ({
  says: `${readyReplicas} pods of the ${role} are ready`,
  when: runs,
  afterMs,
  do: {
    type: "write",
    method: "PATCH",
    path: `${sets}/${appName}-${role}/status`,
    body: { status: { replicas: readyReplicas, readyReplicas } },
  },
});

const removes = (path: string, when: UserAction["when"], afterMs: number): UserAction => ({
  says: `kubectl delete ${path.split("/").slice(-2).join(" ")}`,
  when,
  afterMs,
  do: { type: "write", method: "DELETE", path },
});

const theirs = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: `${appName}-master-svc`, namespace },
  spec: { ports: [{ port: 80 }] },
};

type Life = Omit<Scenario, "kind" | "name" | "scripts"> & { readonly name: string };

const lives: readonly Life[] = [
  {
    name: "ready",
    what: "its master and its workers become ready, one after the other, under an autoscaler and a budget",
    spec: spec({ initWorkers: 2, minWorkers: 1, maxWorkers: 3 }),
    userActions: [reports("master", 1, 1_000), reports("worker", 1, 2_000), reports("worker", 2, 4_000)],
    ends: "RunningHealthy",
    breadth: "part",
  },
  {
    name: "changed",
    what: "the numbers of its workers, its image and its autoscaler change while it runs",
    upstream: "2.10: spec changes are ignored",
    spec: spec({ initWorkers: 3, minWorkers: 1, maxWorkers: 3 }),
    userActions: [
      {
        says: "kubectl patch",
        when: runs,
        afterMs: 2_000,
        do: {
          type: "patch",
          spec: {
            clusterTolerations: { instanceConfig: { initWorkers: 2, minWorkers: 0, maxWorkers: 0 } },
            sparkConf: { "spark.kubernetes.container.image": "apache/spark:4.2.1" },
          },
        },
      },
    ],
    ends: "RunningHealthy",
    breadth: "thin",
  },
  {
    name: "lost",
    what: "a StatefulSet and a Service of it are deleted, and created again",
    spec: spec(fixed),
    userActions: [
      removes(`${sets}/${appName}-worker`, runs, 2_000),
      removes(`${services}/${appName}-master-svc`, runs, 12_000),
    ],
    ends: "RunningHealthy",
    breadth: "thin",
  },
  {
    name: "refused",
    what: "a Service that it wants is another's, until a user deletes that",
    upstream: "B3, B5",
    spec: spec(fixed),
    stands: [[services, theirs]],
    userActions: [removes(`${services}/${appName}-master-svc`, stateIs("SchedulingFailure"), 12_000)],
    ends: "RunningHealthy",
    breadth: "thin",
  },
  {
    name: "corrected",
    what: "its spec is refused until a user corrects it",
    upstream: "B3",
    spec: spec({ initWorkers: 1, minWorkers: 0, maxWorkers: 2 }),
    userActions: [
      {
        says: "kubectl patch",
        when: stateIs("SchedulingFailure"),
        afterMs: 5_000,
        do: { type: "patch", spec: { clusterTolerations: { instanceConfig: fixed } } },
      },
    ],
    ends: "RunningHealthy",
    breadth: "sparse",
  },
  {
    name: "suspended",
    what: "it is held back from its creation until a user resumes it",
    spec: { ...spec(fixed), suspend: true },
    userActions: [
      { says: "resume", when: isApplied, afterMs: 20_000, do: { type: "patch", spec: { suspend: false } } },
    ],
    ends: "RunningHealthy",
    breadth: "sparse",
  },
  {
    name: "deleted",
    what: "it is deleted while it runs",
    spec: spec(fixed),
    userActions: [{ says: "kubectl delete", when: runs, afterMs: 2_000, do: { type: "delete" } }],
    ends: "gone",
    breadth: "thin",
  },
];

export const clusters: readonly Scenario[] = lives.map((life) => ({
  ...life,
  scripts: {},
  name: `cluster-${life.name}`,
  kind: "SparkCluster",
}));
