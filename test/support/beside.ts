/**
 * Stand-ins for another controller without a lease: its Deployment, a pod of it, and what a tenant can forge of it. The
 * namespace `kube-system` is one of administrators, `default` a tenant's.
 */
import type { HttpResponse, Transport } from "../../shared/core/http.ts";
import type { Obj } from "../../shared/core/object.ts";

export const administrators = "kube-system";

export const deploymentOf = (image: string, namespace = administrators): Obj => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "controllers", namespace },
  spec: {
    selector: { matchLabels: { app: "controllers" } },
    template: {
      metadata: { labels: { app: "controllers" } },
      spec: {
        serviceAccountName: "controllers",
        containers: [{ name: "controller", image, args: ["--leader-elect=false"] }],
      },
    },
  },
});

export const controllerPod = (labels: Readonly<Record<string, string>>, namespace = administrators): Obj => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "controllers-0", namespace, labels },
  spec: { containers: [{ name: "controller", image: "mirror/controllers:1" }] },
});

export const queueObject: Obj = {
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name: "q" },
  spec: { weight: 1 },
};

/** Writes the status of the queue `q` under a field manager. */
export const writeStatus = (transport: Transport, agent: string): Promise<HttpResponse> =>
  transport.send({
    method: "PATCH",
    path: "/apis/scheduling.volcano.sh/v1beta1/queues/q/status",
    headers: { "content-type": "application/merge-patch+json", "user-agent": agent },
    body: JSON.stringify({ status: { state: "Open", pending: 1 } }),
    timeoutMs: 1_000,
  });

const rbac = "rbac.authorization.k8s.io";

/** The right to write a status in all namespaces, as an administrator grants it to a controller's account. */
export const grantedEverywhere = (
  group: string,
  resource: string,
  namespace: string,
  verb = "update",
): readonly Obj[] => [
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRole",
    metadata: { name: "controllers" },
    rules: [{ apiGroups: [group], resources: [resource], verbs: ["get", verb] }],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: "controllers" },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "controllers" },
    subjects: [{ kind: "ServiceAccount", name: "controllers", namespace }],
  },
];
