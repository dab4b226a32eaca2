/**
 * Volcano on a real cluster: its CRDs, Deployments and nine webhook configurations, a stand-in that leads and one that
 * schedules.
 */
import { join } from "node:path";
import type { Cluster } from "../../cluster/cluster.ts";
import type { StandInRow } from "../../cluster/node/standins.ts";
import { kubectl } from "../scene.ts";
import { type Scheduler, startScheduler } from "../volcano/scheduler.ts";
import { type Admission, address, startAdmission } from "./admission.ts";
import { applyAll, type Leader, lead } from "./upstream.ts";

export const home = "volcano-system";
const account = "volcano-controllers";
const service = "volcano-admission-service";
const server = "volcano-admission";
const tag = "v1.12.1";

export const standIns: readonly StandInRow[] = [{ image: "^volcanosh/vc-", runs: { startMs: 200 } }];

const workload = (name: string, image: string, args: readonly string[]) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: home },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 2,
        containers: [{ name, image: `volcanosh/${image}:${tag}`, args }],
      },
    },
  },
});

const workloads = [
  workload("volcano-controllers", "vc-controller-manager", ["--logtostderr", "--enable-healthz=true", "-v=4", "2>&1"]),
  workload(server, "vc-webhook-manager", ["--enabled-admission=/jobs/mutate,/pods/mutate", "--port=8443"]),
  workload("volcano-scheduler", "vc-scheduler", ["--leader-elect=true"]),
];

type Hook = {
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly operations: readonly string[];
};

const row = (path: string, group: string, version: string, ...operations: readonly string[]): Hook => ({
  ...{ path, group, version },
  operations,
});

const batch = "batch.volcano.sh";
const scheduling = "scheduling.volcano.sh";

/** The rows of upstream's chart. */
const rows: readonly Hook[] = [
  row("pods/mutate", "", "v1", "CREATE"),
  row("queues/mutate", scheduling, "v1beta1", "CREATE"),
  row("podgroups/mutate", scheduling, "v1beta1", "CREATE"),
  row("jobs/mutate", batch, "v1alpha1", "CREATE"),
  row("jobs/validate", batch, "v1alpha1", "CREATE", "UPDATE"),
  row("pods/validate", "", "v1", "CREATE"),
  row("queues/validate", scheduling, "v1beta1", "CREATE", "UPDATE", "DELETE"),
  row("jobflows/validate", "flow.volcano.sh", "v1alpha1", "CREATE", "UPDATE"),
  row("cronjobs/validate", batch, "v1alpha1", "CREATE", "UPDATE"),
];

const kindOf = (path: string): string =>
  path.endsWith("/mutate") ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";

const nameOf = (path: string): string => `${service}-${path.replace("/", "-")}`;

const waitsFor = rows.map(
  ({ path }) => `/apis/admissionregistration.k8s.io/v1/${kindOf(path).toLowerCase()}s/${nameOf(path)}`,
);

const configuration = ({ path, group, version, operations }: Hook, caBundle: string): object => {
  const [resource = "", act] = path.split("/");
  const outside = { key: "kubernetes.io/metadata.name", operator: "NotIn", values: [home, "kube-system"] };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: kindOf(path),
    metadata: { name: nameOf(path) },
    webhooks: [
      {
        name: `${act === "mutate" ? "mutate" : "validate"}${resource}.volcano.sh`,
        admissionReviewVersions: ["v1"],
        sideEffects: "NoneOnDryRun",
        failurePolicy: "Fail",
        timeoutSeconds: 10,
        clientConfig: { service: { name: service, namespace: home, path: `/${path}`, port: 443 }, caBundle },
        namespaceSelector: { matchExpressions: [outside] },
        rules: [{ apiGroups: [group], apiVersions: [version], operations, resources: [resource] }],
      },
    ],
  };
};

/** Reached without a proxy: the API server is configured to resolve endpoints itself. */
const served = [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: service, namespace: home },
    spec: { ports: [{ name: "https", port: 443, targetPort: address.port }] },
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${service}-1`, namespace: home, labels: { "kubernetes.io/service-name": service } },
    addressType: "IPv4",
    endpoints: [{ addresses: [address.ip], conditions: { ready: true } }],
    ports: [{ name: "https", port: address.port, protocol: "TCP" }],
  },
];

const rbac = "rbac.authorization.k8s.io";

/** The rights of upstream that the stand-in uses. */
const rights = [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: account, namespace: home } },
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: { name: account },
    rules: [
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update"] },
      { apiGroups: [batch], resources: ["jobs"], verbs: ["get", "list", "watch", "update", "delete"] },
      { apiGroups: [batch], resources: ["jobs/status"], verbs: ["update", "patch"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["create", "get", "list", "watch", "delete", "patch"] },
    ],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: account },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: account },
    subjects: [{ kind: "ServiceAccount", name: account, namespace: home }],
  },
];

export type Volcano = Leader & {
  readonly admission: Admission;
  /** Registers the webhooks, which refuse everything while their server is away. */
  registerWebhooks(): Promise<void>;
};

/** Installs upstream without its webhook configurations; it leads and schedules afterwards. */
export const installVolcano = async (cluster: Cluster): Promise<Volcano> => {
  await applyAll(cluster, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: home } }]);
  await applyAll(cluster, [...rights, ...served, ...workloads]);
  for (const { metadata } of workloads)
    await kubectl(cluster, ["-n", home, "rollout", "status", `deployment/${metadata.name}`, "--timeout=60s"]);
  const nodes = cluster.nodes.map(({ name }) => name);
  const scheduler: Scheduler = await startScheduler(cluster.adminKubeconfig, nodes);
  const admission = await startAdmission(cluster, { home, deployment: server, service, waitsFor });
  const leader = await lead(cluster, {
    ...{ home, account },
    lock: "vc-controller-manager",
    controller: "volcano-controllers",
  });
  return {
    ...leader,
    admission,
    registerWebhooks: () =>
      applyAll(
        cluster,
        rows.map((one) => configuration(one, admission.caBundle)),
      ),
    stop: async () => {
      await leader.stop();
      await admission.stop();
      await scheduler.stop();
    },
  };
};

/** Returns the folder of the recorded files that define its kinds. */
export const crdsIn = (recorded: string): string => join(recorded, "crds");
