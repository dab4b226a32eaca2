/** Kubeflow's operator on a real cluster: its CRDs, its RBAC, its Deployments and webhook configurations; a stand-in that leads under its account. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Stored } from "../../../shared/core/object.ts";
import { isStored } from "../../../shared/kube/answers.ts";
import { type Api, openApi } from "../../cluster/api.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import { kubectl } from "../scene.ts";

export const home = "spark-operator";
const account = "spark-operator-controller";
const lock = "spark-operator-controller-lock";

const image = "ghcr.io/kubeflow/spark-operator/controller:2.5.2";
/** Its processes are stand-ins: what is tried is what others do about them. */
const stays = ["/bin/sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.2; done", "spark-operator"];

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

const apply = async (cluster: Cluster, text: string): Promise<void> => {
  const { code, stderr } = await cluster.kubectl(["apply", "--server-side", "-f", "-"], { input: text });
  if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
};

/** JSON is YAML. */
export const applyAll = (cluster: Cluster, objects: readonly unknown[]): Promise<void> =>
  apply(cluster, objects.map((object) => JSON.stringify(object)).join("\n---\n"));

/** Upstream's roles as they are recorded, in its namespace. */
const roles = async (cluster: Cluster, folder: string): Promise<void> => {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml") && file !== "kustomization.yaml");
  for (const file of files) {
    const text = await readFile(join(folder, file), "utf8");
    await apply(cluster, text.replaceAll("namespace: system", `namespace: ${home}`));
  }
};

const lease = z.looseObject({
  spec: z.looseObject({
    holderIdentity: z.string().default(""),
    leaseDurationSeconds: z.number().default(15),
    renewTime: z.string().default(""),
  }),
});
const counted = z.looseObject({ status: z.looseObject({ replicas: z.number().default(0) }).default({ replicas: 0 }) });

const leasePath = `/apis/coordination.k8s.io/v1/namespaces/${home}/leases`;

/** One beat of a leader, under upstream's own account: renews what is its own or free. */
const beat = async (admin: Api, own: Api): Promise<boolean> => {
  const deployment = await admin.call("GET", `/apis/apps/v1/namespaces/${home}/deployments/spark-operator-controller`);
  if (counted.parse(deployment.body).status.replicas === 0) return false;
  const now = new Date().toISOString().replace("Z", "000Z");
  const spec = { holderIdentity: "upstream", leaseDurationSeconds: 15, acquireTime: now, renewTime: now };
  const found = await own.call("GET", `${leasePath}/${lock}`);
  if (found.status === 404) {
    const made = await own.call("POST", leasePath, { metadata: { name: lock }, spec });
    return made.status === 201;
  }
  const { holderIdentity, leaseDurationSeconds, renewTime } = lease.parse(found.body).spec;
  const isFree = holderIdentity === "" || Date.parse(renewTime) + leaseDurationSeconds * 1_000 < Date.now();
  if (!isFree && holderIdentity !== "upstream") return false;
  const put = await own.call("PUT", `${leasePath}/${lock}`, { ...lease.parse(found.body), spec });
  return put.status === 200;
};

export type Kubeflow = {
  /** As its own account. */
  readonly api: Api;
  /** Whether its last beat led. */
  leads(): boolean;
  /** What refuses everything, since no webhook server answers here. */
  registerWebhooks(): Promise<void>;
  stop(): Promise<void>;
};

/** Upstream as it is installed, without its webhook configurations; it leads from now on. */
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
  const api = await openApi(await cluster.kubeconfigOf(home, account));
  let stopped = false;
  let leads = false;
  const loop = (async () => {
    while (!stopped) {
      leads = await beat(cluster.api, api).catch(() => false);
      await sleep(1_000);
    }
  })();
  for (let left = 60; !leads && left > 0; left--) await sleep(500);
  if (!leads) throw new Error("the stand-in of upstream does not lead");
  return {
    api,
    leads: () => leads,
    registerWebhooks: () => applyAll(cluster, configurations),
    stop: async () => {
      stopped = true;
      await loop;
      api.close();
    },
  };
};

const named = z.object({ metadata: z.looseObject({ name: z.string() }) });
const listed = z.object({ items: z.array(z.looseObject({ metadata: named.shape.metadata, webhooks: z.unknown() })) });

/** Its webhook configurations and replicas, without what the server counts. */
export const pictureOf = async ({ api }: Cluster): Promise<string> => {
  const hooksOf = async (plural: string): Promise<unknown> => {
    const { body } = await api.call("GET", `/apis/admissionregistration.k8s.io/v1/${plural}`);
    return listed.parse(body).items.map(({ metadata, webhooks }) => [metadata.name, webhooks]);
  };
  const { body } = await api.call("GET", `/apis/apps/v1/namespaces/${home}/deployments`);
  const replicas = z
    .object({
      items: z.array(z.object({ metadata: z.object({ name: z.string() }), spec: z.object({ replicas: z.number() }) })),
    })
    .parse(body)
    .items.map(({ metadata, spec }) => `${metadata.name} ${spec.replicas}`);
  return JSON.stringify([
    await hooksOf("mutatingwebhookconfigurations"),
    await hooksOf("validatingwebhookconfigurations"),
    replicas,
  ]);
};

/** Reads an object as it is stored. */
export const stored = async (api: Api, path: string): Promise<Stored> => {
  const { status, body } = await api.call("GET", path);
  if (status !== 200 || !isStored(body)) throw new Error(`${path}: ${JSON.stringify(body)}`);
  return body;
};
