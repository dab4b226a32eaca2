/**
 * Kubeflow's operator on a real cluster: its CRDs, RBAC, Deployments and webhook configurations, and a stand-in that
 * leads under its account.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Cluster } from "../../cluster/cluster.ts";
import { kubectl } from "../scene.ts";
import { apply, applyAll, type Leader, lead } from "./upstream.ts";

export const home = "spark-operator";
const account = "spark-operator-controller";
const lock = "spark-operator-controller-lock";

const image = "ghcr.io/kubeflow/spark-operator/controller:2.5.2";
/** Its processes are stand-ins: the lane tests how other components react to them. */
export const stays = ["/bin/sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.2; done", "spark-operator"];

const workload = (part: string, args: readonly string[]) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: `spark-operator-${part}`, namespace: home },
  spec: {
    replicas: 1,
    selector: { matchLabels: { part } },
    template: {
      metadata: { labels: { part } },
      spec: {
        terminationGracePeriodSeconds: 2,
        containers: [{ name: part, image, command: stays, args: [part, "start", ...args] }],
      },
    },
  },
});

const hooks = (
  kind: string,
  name: string,
  rows: readonly (readonly [path: string, rule: object, labels?: object])[],
) => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind,
  metadata: { name },
  webhooks: rows.map(([path, rule, matchLabels], at) => ({
    name: `hook${at}.sparkoperator.k8s.io`,
    admissionReviewVersions: ["v1"],
    sideEffects: "NoneOnDryRun",
    failurePolicy: "Fail",
    timeoutSeconds: 2,
    clientConfig: { service: { name: "spark-operator-webhook-svc", namespace: home, path, port: 9443 } },
    ...(matchLabels === undefined ? {} : { objectSelector: { matchLabels } }),
    rules: [rule],
  })),
});

const pods = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
const applications = {
  apiGroups: ["sparkoperator.k8s.io"],
  apiVersions: ["v1beta2"],
  operations: ["CREATE", "UPDATE"],
  resources: ["sparkapplications"],
};
const launched = { "sparkoperator.k8s.io/launched-by-spark-operator": "true" };

const configurations = [
  hooks("MutatingWebhookConfiguration", "mutating-webhook-configuration", [
    ["/mutate--v1-pod", pods, launched],
    ["/mutate-sparkoperator-k8s-io-v1beta2-sparkapplication", applications],
  ]),
  hooks("ValidatingWebhookConfiguration", "validating-webhook-configuration", [
    ["/validate-sparkoperator-k8s-io-v1beta2-sparkapplication", applications],
  ]),
];

/** Applies upstream's recorded roles, in its namespace. */
const roles = async (cluster: Cluster, folder: string): Promise<void> => {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml") && file !== "kustomization.yaml");
  for (const file of files) {
    const text = await readFile(join(folder, file), "utf8");
    await apply(cluster, text.replaceAll("namespace: system", `namespace: ${home}`));
  }
};

export type Kubeflow = Leader & {
  /** Registers webhooks that refuse everything, since no webhook server answers here. */
  registerWebhooks(): Promise<void>;
};

/** Installs upstream without its webhook configurations; it leads afterwards. */
export const installKubeflow = async (cluster: Cluster, recorded: string): Promise<Kubeflow> => {
  await applyAll(cluster, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: home } }]);
  const metadata = { name: account, namespace: home };
  await applyAll(cluster, [{ apiVersion: "v1", kind: "ServiceAccount", metadata }]);
  await roles(cluster, join(recorded, "rbac"));
  await applyAll(cluster, [
    workload("controller", [
      "--zap-log-level=info",
      "--namespaces=default",
      "--leader-election=true",
      `--leader-election-lock-name=${lock}`,
    ]),
    workload("webhook", ["--webhook-port=9443"]),
  ]);
  for (const part of ["controller", "webhook"])
    await kubectl(cluster, ["-n", home, "rollout", "status", `deployment/spark-operator-${part}`, "--timeout=60s"]);
  const leader = await lead(cluster, { home, account, lock, controller: "spark-operator-controller" });
  return { ...leader, registerWebhooks: () => applyAll(cluster, configurations) };
};
