/**
 * Compares the chart with its source: it must render the same objects as `rekindle manifests` for the same settings,
 * and report unknown values.
 */
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { settingValues, unneededValues } from "../../../infra/chart.ts";
import { plain } from "../../../infra/kustomize.ts";
import { fieldsOf } from "../../../shared/core/json.ts";
import { readConfiguration } from "../../../shared/deployments/settings/host.ts";
import { fileName, variableName } from "../../../shared/deployments/settings/table.ts";
import { type Installation, objectsOf } from "../../../shared/installation/objects.ts";
import { samples } from "../../support/setting-samples.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { type Check, install, type Manifest, objections } from "./accepted.ts";
import { definitionsIn, differences, parsed, rendered, type Values, withoutDefinitions } from "./chart-objects.ts";
import { kubeflowValues, treeOf } from "./kubeflow-values.ts";

/** The same settings as chart values and as options of `rekindle manifests`. */
type Row = {
  readonly name: string;
  readonly values: Values;
  readonly manifests: Partial<Installation>;
};

const accounts = { sparkAccounts: ["spark", "spark-operator-spark"] };

const rows: readonly Row[] = [
  { name: "its defaults", values: {}, manifests: {} },
  {
    name: "two namespaces",
    values: { spark: { jobNamespaces: ["team-a", "team-b"] } },
    manifests: { namespaces: ["team-a", "team-b"], sparkNamespaces: ["team-a", "team-b"], ...accounts },
  },
  {
    name: "a driver's account of a name",
    values: { spark: { jobNamespaces: ["team-a"], serviceAccount: { name: "me" } } },
    manifests: { namespaces: ["team-a"], sparkNamespaces: ["team-a"], sparkAccounts: ["me"] },
  },
  { name: "webhooks", values: { webhook: { enable: true } }, manifests: { admission: true } },
  {
    name: "webhooks for two networks alone",
    values: { webhook: { enable: true }, networkPolicy: { admissionFrom: ["10.0.0.0/28", "fd00::/64"] } },
    manifests: { admission: true, admissionFrom: ["10.0.0.0/28", "fd00::/64"] },
  },
  {
    name: "namespaces by labels, and nodes",
    values: { spark: { jobNamespaceSelector: "spark=enabled" }, controller: { rbac: { nodes: true } } },
    manifests: { namespaceSelector: "spark=enabled", nodes: true },
  },
  { name: "one family", values: { controller: { families: ["spark"] } }, manifests: { families: ["spark"] } },
  {
    name: "the other family, its webhooks, and two namespaces",
    values: {
      ...{ controller: { families: ["volcano"] }, webhook: { enable: true } },
      spark: { jobNamespaces: ["team-a", "team-b"] },
    },
    manifests: {
      ...{ families: ["volcano"], admission: true },
      ...{ namespaces: ["team-a", "team-b"], sparkNamespaces: ["team-a", "team-b"], ...accounts },
    },
  },
  {
    name: "all families",
    values: { controller: { families: ["spark", "volcano", "apache"] } },
    manifests: { families: ["spark", "volcano", "apache"] },
  },
  {
    name: "features",
    values: { controller: { rbac: { features: ["ssh", "pod-http"] } } },
    manifests: { features: ["ssh", "pod-http"] },
  },
  {
    name: "a feature in two namespaces",
    values: { controller: { rbac: { features: ["ssh"] } }, spark: { jobNamespaces: ["team-a", "team-b"] } },
    manifests: {
      ...{ features: ["ssh"], namespaces: ["team-a", "team-b"], sparkNamespaces: ["team-a", "team-b"] },
      ...accounts,
    },
  },
  {
    name: "features of the page in a namespace",
    values: {
      controller: { families: ["volcano"], rbac: { features: ["kube-sign-in", "logs", "actions"] } },
      spark: { jobNamespaces: ["team-a"] },
    },
    manifests: {
      ...{ families: ["volcano"], features: ["kube-sign-in", "logs", "actions"] },
      ...{ namespaces: ["team-a"], sparkNamespaces: ["team-a"] },
      ...accounts,
    },
  },
  {
    name: "an image of one's own",
    values: { image: { registry: "images.example", repository: "batch/rekindle", tag: "1" } },
    manifests: { image: "images.example/batch/rekindle:1" },
  },
];

const asRead = (installation: Installation): readonly Manifest[] =>
  parsed(objectsOf(installation)).filter(({ kind }) => kind !== "Namespace");

const same = ({ name, values, manifests }: Row): Check => ({
  name: `the chart with ${name} is what rekindle manifests prints`,
  run: async () =>
    differences(
      withoutDefinitions(await rendered(values, "rekindle")),
      asRead({ ...plain("rekindle:0.1.0"), ...manifests }),
    ),
});

/** Values of kubeflow's chart that users may set together. */
const rich: Values = {
  commonLabels: { team: "data" },
  image: { pullSecrets: [{ name: "registry" }], pullPolicy: "Always" },
  controller: {
    workers: 20,
    logLevel: "debug",
    uiIngress: { enable: true, urlFormat: "{{$appName}}.example.com", ingressClassName: "nginx" },
    batchScheduler: { enable: true, kubeSchedulerNames: ["a", "b"], default: "volcano" },
    serviceAccount: { name: "mine", annotations: { "eks.amazonaws.com/role-arn": "arn:aws:iam::000000000000:role/x" } },
    labels: { a: "b" },
    annotations: { c: "d" },
    volumes: [{ name: "tmp", emptyDir: {} }],
    volumeMounts: [{ name: "tmp", mountPath: "/tmp" }],
    nodeSelector: { pool: "system" },
    tolerations: [{ key: "system", operator: "Exists" }],
    priorityClassName: "system-cluster-critical",
    podSecurityContext: { fsGroup: 65_532 },
    env: [{ name: "REKINDLE_RESYNC", value: "1m" }],
    resources: { requests: { cpu: "1", memory: "256Mi" }, limits: { memory: "1Gi" } },
  },
  webhook: {
    ...{ enable: true, resourceQuotaEnforcement: { enable: false }, queueGate: true },
    resourceGroups: [{ resourceGroup: "gpu", labels: { pool: "gpu" } }],
  },
  spark: { jobNamespaces: ["default"], rbac: { annotations: { e: "f" } } },
  prometheus: { metrics: { prefix: "x_" } },
};

export const taken = (cluster: Cluster, name: string, values: Values, namespace: string): Check => ({
  name: `a real API server takes the chart with ${name}`,
  run: async () => {
    const places = [namespace, "team-a", "team-b"].map((one) => ({
      ...{ apiVersion: "v1", kind: "Namespace" },
      metadata: { name: one, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
    }));
    await install(cluster, places.map((one) => JSON.stringify(one)).join("\n---\n"));
    const objects = withoutDefinitions(await rendered(values, namespace));
    return await objections(cluster, objects.map((one) => JSON.stringify(one)).join("\n---\n"));
  },
});

/** Invalid values, and the errors for them. */
const refused: readonly (readonly [values: Values, says: RegExp])[] = [
  [{ controller: { replicas: 2 } }, /controller\.replicas: 2: one host does the work of all/],
  [{ controller: { replica: 1 } }, /additional properties 'replica' not allowed/],
  [{ spark: { jobNamespaces: "default" } }, /spark\/jobNamespaces': got string, want array/],
  [{ controller: { logLevel: "loud" } }, /controller\/logLevel': value must be one of/],
  [{ controller: { uiIngress: { enable: true } } }, /controller\.uiIngress\.urlFormat: is needed/],
  [
    { controller: { featureGates: [{ name: "PartialRestart", enabled: true }] } },
    /controller\.featureGates: PartialRestart is not here/,
  ],
  ...(["host", "functions"] as const).map((mode): readonly [Values, RegExp] => [
    { mode, spark: { jobNamespaces: ["team-a"] }, controller: { rbac: { features: ["gang"] } } },
    /controller\.rbac\.features: gang: groups are admitted in all namespaces together/,
  ]),
  [{ settings: { fense: "8s" } }, /settings': additional properties 'fense' not allowed/],
  [{ settings: { concurrency: 3 }, controller: { workers: 4 } }, /settings\.concurrency says what another value says/],
  [{ prometheus: { podMonitor: { create: true } } }, /this cluster has no PodMonitor; install/],
  [{ mode: "lambda" }, /mode': value must be one of/],
  [
    { mode: "functions", controller: { serviceAccount: { name: "mine" } } },
    /controller\.serviceAccount: with mode: functions each function has an account of its own/,
  ],
  [{ mode: "functions", settings: { queue: "nats" } }, /REKINDLE_QUEUE is not read with mode: functions/],
  [
    { mode: "functions", settings: { admissionListen: "0.0.0.0:1" } },
    /settings': additional properties 'admissionListen' not allowed/,
  ],
  [{ settings: { callUrls: "reconcile=http://a/" } }, /REKINDLE_CALL_URLS is not read with mode: host/],
];

/** Values of other charts without an effect here, and the notes on them. */
const noted: readonly (readonly [values: Values, says: RegExp])[] = [
  [{ controller: { leaderElection: { enable: true } } }, /# {3}controller\.leaderElection: hosts elect no leader/],
  [{ webhook: { failurePolicy: "Fail" } }, /# {3}webhook\.failurePolicy: always Ignore/],
  [{ custom: { controller_replicas: 1 } }, /# {3}custom\.controller_replicas: here it is called controller\.replicas/],
  [{ custom: { scheduler_enable: true } }, /# {3}custom\.scheduler_enable: belongs to Volcano's own programs/],
  [{ prometheus: { metrics: { enable: false } } }, /# {3}prometheus\.metrics\.enable: metrics are always served at/],
];

const said = async (values: Values): Promise<string> =>
  await rendered(values, "rekindle").catch((cause: unknown) =>
    cause instanceof Error ? cause.message : String(cause),
  );

/** Apache's CRD is installed where its family is chosen, and outlasts the release. */
const definesChosen: Check = {
  name: "the chart has the CRD of Apache's family where it is chosen, and there alone",
  run: async () => {
    const [own] = definitionsIn(
      await readFile("infra/optional-crds/apache/spark.apache.org_sparkapplications.yaml", "utf8"),
    );
    const crdFor = async (values: Values): Promise<Manifest | undefined> =>
      definitionsIn(await rendered(values, "rekindle")).find(({ metadata }) => metadata.name === own?.metadata.name);
    const chosen = await crdFor({ controller: { families: ["spark", "apache"] } });
    return [
      ...((await crdFor({})) === undefined ? [] : ["the default values bring it"]),
      ...(isDeepStrictEqual(fieldsOf(chosen)["spec"], fieldsOf(own)["spec"]) ? [] : ["it is not the CRD of the file"]),
      ...(JSON.stringify(chosen?.metadata).includes('"helm.sh/resource-policy":"keep"')
        ? []
        : ["Helm would delete it"]),
    ];
  },
};

/** Values of kubeflow's chart as users change them, and their effect on the objects. */
const effective: readonly (readonly [values: Values, has: RegExp])[] = [
  [
    { controller: { uiIngress: { enable: true, urlFormat: "x", tls: [{ hosts: ["a"], secretName: "b" }] } } },
    /REKINDLE_INGRESS_TLS\n\s+value: '\[\{"hosts":\["a"\],"secretName":"b"\}\]'/,
  ],
  [
    { controller: { uiIngress: { enable: true, urlFormat: "x", annotations: { a: "on" } } } },
    /REKINDLE_INGRESS_ANNOTATIONS\n\s+value: '\{"a":"on"\}'/,
  ],
  [{ controller: { driverPodDisruptionBudget: true } }, /REKINDLE_ENABLE_DRIVER_PDB\n\s+value: "true"/],
  [{ controller: { driverPodDisruptionBudget: { enable: true } } }, /REKINDLE_ENABLE_DRIVER_PDB\n\s+value: "true"/],
  [
    { controller: { sparkDefaults: { "spark.eventLog.enabled": "true" } } },
    /REKINDLE_SPARK_DEFAULTS\n\s+value: '\{"spark.eventLog.enabled":"true"\}'/,
  ],
  [{ controller: { defaultTimeToLiveSeconds: 60 } }, /REKINDLE_DEFAULT_TIME_TO_LIVE_SECONDS\n\s+value: "60"/],
  [
    { controller: { serviceAccount: { automountServiceAccountToken: false } } },
    /^automountServiceAccountToken: false$/m,
  ],
  [
    { spark: { jobNamespaces: ["a"], serviceAccount: { automountServiceAccountToken: false } } },
    /^automountServiceAccountToken: false$/m,
  ],
  [{ controller: { revisionHistoryLimit: 3 } }, /^ {2}revisionHistoryLimit: 3$/m],
  [{ controller: { hostUsers: false } }, /^ {6}hostUsers: false$/m],
  [{ controller: { dnsConfig: { nameservers: ["10.0.0.1"] } } }, /dnsConfig:\n\s+nameservers:\n\s+- 10\.0\.0\.1$/m],
  [
    { prometheus: { metrics: { jobSubmitLatencyBuckets: "1,2" } } },
    /REKINDLE_METRICS_JOB_SUBMIT_LATENCY_BUCKETS\n\s+value: 1,2/,
  ],
  [{ controller: { featureGates: [{ name: "DefaultTimeToLive", enabled: true }] } }, /kind: Deployment/],
  [
    { mode: "functions", webhook: { enable: true, resourceQuotaEnforcement: { enable: false } } },
    /REKINDLE_ADMISSION: "true"(.|\n)*REKINDLE_ADMISSION_QUOTA: "false"/,
  ],
  [
    { settings: { leases: [], timeout: 4_000 } },
    /REKINDLE_LEASES\n\s+value: ""\n\s+- name: REKINDLE_TIMEOUT\n\s+value: "4000"/,
  ],
];

const effects: Check = {
  name: "values of kubeflow's chart that mean something here take effect",
  run: async () => {
    const wrong: string[] = [];
    for (const [values, has] of effective) {
      const text = await said(values);
      if (!has.test(text)) wrong.push(`${JSON.stringify(values)}: ${has} is not in ${text.slice(0, 2_000)}`);
    }
    return wrong;
  },
};

const hostEnv = z.array(z.object({ name: z.string(), value: z.string() }));

const deployed = z.object({
  kind: z.literal("Deployment"),
  spec: z.object({
    template: z.object({ spec: z.object({ containers: z.tuple([z.object({ env: hostEnv })]) }) }),
  }),
});

const configurationOf = async (env: Readonly<Record<string, string>>): Promise<Readonly<Record<string, unknown>>> => {
  const asked = await readConfiguration([], env);
  return asked.do === "run" ? asked.configuration : { problems: JSON.stringify(asked) };
};

/** Each setting of the chart, written as text, equals the value of its variable. */
const settings: Check = {
  name: "each setting among the chart's values arrives in the host's parsed settings",
  run: async () => {
    const values = Object.fromEntries(settingValues.map((name) => [fileName(name), samples[name]]));
    const objects = withoutDefinitions(await rendered({ settings: values }, "rekindle"));
    const env = objects.flatMap((object) => {
      const { data } = deployed.safeParse(object);
      return data?.spec.template.spec.containers[0].env ?? [];
    });
    const found = await configurationOf(Object.fromEntries(env.map(({ name, value }) => [name, value])));
    const wrong: string[] = [];
    for (const name of settingValues) {
      const expected = await configurationOf({ [variableName(name)]: samples[name] });
      if (!isDeepStrictEqual(found[name], expected[name])) wrong.push(`${name}: ${JSON.stringify(found[name])}`);
    }
    return wrong;
  },
};

/**
 * Renders the values file of a release unchanged: a real server accepts the objects, and the notes name the values
 * without effect.
 */
const release = (cluster: Cluster, version: string): Check => ({
  name: `the values of kubeflow's chart ${version} install, and what means nothing here is told`,
  run: async () => {
    const rows = kubeflowValues[version] ?? [];
    const text = await rendered(treeOf(rows), "rekindle");
    const idle = Object.keys(unneededValues).filter((path) =>
      rows.some(([row, value]) => value !== null && (row === path || row.startsWith(`${path}.`))),
    );
    const untold = idle.filter((path) => !text.includes(`#   ${path}: `));
    const objects = withoutDefinitions(text);
    const images = JSON.stringify(objects).match(/"image":"[^"]*"/g) ?? [];
    return [
      ...untold.map((path) => `the notes do not name ${path}`),
      ...images.filter((image) => image !== '"image":"rekindle:0.1.0"').map((image) => `${image} cannot run here`),
      ...(text.includes("#   image.repository: ghcr.io/kubeflow/spark-operator/controller is kubeflow's")
        ? []
        : ["image"]),
      ...(await objections(cluster, objects.map((one) => JSON.stringify(one)).join("\n---\n"))),
    ];
  },
});

const words: Check = {
  name: "the chart says what is wrong with values, and which of others' charts change nothing",
  run: async () => {
    const wrong: string[] = [];
    for (const [values, says] of [...refused, ...noted]) {
      const text = await said(values);
      if (!says.test(text)) wrong.push(`${JSON.stringify(values)}: ${says} is not in ${text.slice(-600)}`);
    }
    if ((await said({})).includes("have no effect in this chart")) wrong.push("the defaults are told of");
    return wrong;
  },
};

export const chartChecks = (cluster: Cluster): readonly Check[] => [
  ...rows.map(same),
  taken(cluster, "its defaults", {}, "rekindle"),
  taken(
    cluster,
    "webhooks in two namespaces",
    { webhook: { enable: true }, spark: { jobNamespaces: ["team-a", "team-b"] } },
    "rekindle",
  ),
  taken(cluster, "what users of kubeflow's set, in a namespace of theirs", rich, "spark-operator"),
  ...Object.keys(kubeflowValues).map((version) => release(cluster, version)),
  effects,
  settings,
  definesChosen,
  words,
];
