/**
 * The generated part of `infra/helm/rekindle`: the rights of each account; the settings of functions; the schema of the
 * values; and the values of other charts that have no effect, each with the reason.
 */
import * as z from "zod";
import { fieldsOf } from "../shared/core/json.ts";
import { reasonOf, reference } from "../shared/deployments/settings/reference.ts";
import { fileName, namesFor, rowOf, type SettingName, variableName } from "../shared/deployments/settings/table.ts";
import { yamlText } from "../shared/inspection/io/documents.ts";
import { families, features } from "../shared/kube/resources.ts";
import { rightsText } from "./chart-rights.ts";
import { dispatched, onDispatch } from "./workloads.ts";

type File = { readonly path: string; readonly text: string };

/** The settings of functions that a dispatcher calls, as variables; the templates replace the mark of the namespace. */
const functionSettings = (): object => {
  const map = onDispatch({ namespace: "@release@", image: "" }).find(({ kind }) => kind === "ConfigMap");
  return fieldsOf(fieldsOf(map)["data"]);
};

const text = z.string();
const flag = z.boolean();
const map = z.record(z.string(), z.unknown());
const names = z.array(text);
const list = z.array(map);
const many = z.union([text, z.number()]);

/** Every value that is used, by its path: most have the names that they have in the chart of kubeflow's operator. */
export const usedValues: Readonly<Record<string, z.ZodType>> = {
  mode: z.enum(["host", "functions"]),
  commonLabels: z.record(z.string(), text),
  ...{ "image.registry": text, "image.repository": text, "image.tag": many },
  ...{ "image.pullPolicy": z.enum(["Always", "IfNotPresent", "Never"]), "image.pullSecrets": list },
  ...{ "controller.replicas": z.int().min(0), "controller.workers": z.int().min(1).nullable() },
  "controller.families": z.array(z.enum(families)),
  "controller.logLevel": z.enum(["debug", "info", "warn", "error"]),
  "controller.maxTrackedExecutorPerApp": z.int().min(1).nullable(),
  ...{ "controller.uiService.enable": flag, "controller.uiIngress.enable": flag },
  ...{ "controller.uiIngress.urlFormat": text, "controller.uiIngress.ingressClassName": text },
  ...{ "controller.uiIngress.tls": list, "controller.uiIngress.annotations": z.record(z.string(), text) },
  // Only Kubeflow's development version has it: a switch, or a group with a switch.
  "controller.driverPodDisruptionBudget": z.union([flag, z.looseObject({ enable: flag })]).nullable(),
  "controller.defaultTimeToLiveSeconds": z.int().min(0).nullable(),
  "controller.sparkDefaults": z.record(z.string(), text),
  ...{ "controller.batchScheduler.enable": flag, "controller.batchScheduler.kubeSchedulerNames": names },
  "controller.batchScheduler.default": text,
  ...{ "controller.serviceAccount.create": flag, "controller.serviceAccount.name": text },
  ...{ "controller.serviceAccount.annotations": map, "controller.serviceAccount.automountServiceAccountToken": flag },
  ...{ "controller.rbac.create": flag, "controller.rbac.annotations": map, "controller.rbac.nodes": flag },
  "controller.rbac.features": z.array(z.enum(features)),
  ...{ "controller.labels": map, "controller.annotations": map, "controller.volumes": list },
  ...{ "controller.nodeSelector": map, "controller.affinity": map, "controller.tolerations": list },
  ...{ "controller.priorityClassName": text, "controller.podSecurityContext": map },
  ...{ "controller.topologySpreadConstraints": list, "controller.env": list, "controller.envFrom": list },
  ...{ "controller.volumeMounts": list, "controller.resources": map, "controller.securityContext": map },
  ...{ "controller.sidecars": list, "controller.dnsConfig": map, "controller.hostUsers": flag.nullable() },
  "controller.revisionHistoryLimit": z.int().min(0).nullable(),
  "controller.featureGates": z.array(z.looseObject({ name: text, enabled: flag })),
  ...{ "webhook.enable": flag, "webhook.resourceQuotaEnforcement.enable": flag },
  ...{ "webhook.queueGate": flag, "webhook.resourceGroups": list },
  ...{ "spark.jobNamespaces": names, "spark.jobNamespaceSelector": text },
  ...{
    "spark.serviceAccount.create": flag,
    "spark.serviceAccount.name": text,
    "spark.serviceAccount.annotations": map,
    "spark.serviceAccount.automountServiceAccountToken": flag,
  },
  ...{ "spark.rbac.create": flag, "spark.rbac.annotations": map },
  ...{ "prometheus.metrics.enable": flag, "prometheus.metrics.prefix": text, "prometheus.metrics.labels": text },
  ...{ "prometheus.metrics.jobStartLatencyBuckets": text, "prometheus.metrics.jobSubmitLatencyBuckets": text },
  ...{ "prometheus.podMonitor.create": flag, "prometheus.podMonitor.labels": map },
  ...{ "prometheus.podMonitor.jobLabel": text, "prometheus.podMonitor.podMetricsEndpoint": map },
  ...{ "networkPolicy.enable": flag, "networkPolicy.admissionFrom": names },
};

const ofHost = "the host serves admission itself, so the values of controller apply";
const fixed = "objects are named rekindle in every namespace: a cluster needs one installation";
const byKubectl = "Helm does not upgrade CRDs: rekindle manifests --crds-only | kubectl apply --server-side -f - does";
const none = "there is no such limit: Rekindle obeys the API server's own answers (429)";

/** Values of kubeflow's chart and of Volcano's that change nothing, each with the reason or the replacement. */
export const unneededValues: Readonly<Record<string, string>> = {
  ...{ nameOverride: fixed, fullnameOverride: fixed },
  hook: byKubectl,
  submitter: "submissions are made in the host's process, without a service or a JVM",
  "controller.leaderElection": "hosts elect no leader: every write is fenced, so two hosts at once do no harm",
  "controller.logEncoder": "lines are JSON",
  "controller.deploymentAnnotations": "controller.annotations are those of the pods; the Deployment has none",
  "controller.podDisruptionBudget": "no state is lost without a host; the next one continues",
  "controller.pprof": "there is none",
  "controller.workqueueRateLimiter": none,
  "controller.driverPodCreationGracePeriod":
    "Rekindle reads a missing driver pod again, live, before it counts the driver as lost",
  "controller.kubeAPIQPS": none,
  "controller.kubeAPIBurst": none,
  "controller.scheduledSparkApplicationTimestampPrecision":
    "the name of a run has its scheduled time, with the precision that fits into the name",
  ...Object.fromEntries(
    [
      ...[
        "replicas",
        "leaderElection",
        "logLevel",
        "logEncoder",
        "port",
        "portName",
        "serviceAccount",
        "rbac",
        "labels",
      ],
      ...["annotations", "sidecars", "volumes", "nodeSelector", "affinity", "tolerations", "priorityClassName"],
      ...["podSecurityContext", "topologySpreadConstraints", "env", "envFrom", "volumeMounts", "resources"],
      ...["securityContext", "podDisruptionBudget", "dnsConfig", "hostUsers", "revisionHistoryLimit"],
      ...["kubeAPIQPS", "kubeAPIBurst", "deploymentAnnotations"],
    ].map((name) => [`webhook.${name}`, ofHost]),
  ),
  "webhook.failurePolicy": "always Ignore: reconcile applies the same rules, so admission blocks no client",
  "webhook.timeoutSeconds": "always 3 s",
  certManager: "the host creates its certificate and renews it",
  "prometheus.metrics.port": "8080, with health and triggers",
  "prometheus.metrics.portName": "http",
  "prometheus.metrics.endpoint": "/metrics",
};

/** Values of Volcano's chart that have another name in this one. */
const elsewhere: Readonly<Record<string, string>> = {
  "basic.image_registry": "image.registry",
  "basic.image_tag_version": "image.tag",
  "basic.image_pull_policy": "image.pullPolicy",
  "basic.image_pull_secret": "image.pullSecrets",
  "custom.controller_replicas": "controller.replicas",
  "custom.controller_worker_threads": "controller.workers",
  "custom.controller_resources": "controller.resources",
  "custom.controller_affinity": "controller.affinity",
  "custom.controller_tolerations": "controller.tolerations",
  "custom.controller_ns": "controller.nodeSelector",
  "custom.controller_sc": "controller.podSecurityContext",
  "custom.controller_podLabels": "controller.labels",
  "custom.controller_log_level": "controller.logLevel",
  "custom.admission_enable": "webhook.enable",
  "custom.common_labels": "commonLabels",
  "custom.controller_metrics_enable": "prometheus.metrics.enable",
};

type Node = { readonly [name: string]: Node | object };

const placed = (tree: Node, [first = "", ...rest]: readonly string[], leaf: object): Node => {
  if (rest.length === 0) return { ...tree, [first]: leaf };
  const below = tree[first];
  const group: Node = below === undefined ? {} : Object.fromEntries(Object.entries(below));
  return { ...tree, [first]: placed(group, rest, leaf) };
};

/** A leaf is kept under a name that no value has. */
const box = "$leaf";

const schemaOf = (tree: Node): object => {
  if (box in tree) return tree[box] ?? {};
  const properties = Object.entries(tree).map(([name, below]) => [name, schemaOf({ ...below })]);
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) };
};

const leafOf = (shape: z.ZodType): object => {
  const { $schema, ...leaf } = z.toJSONSchema(shape, { target: "draft-7" });
  return { [box]: leaf };
};

/** A setting, in the form of a settings file. */
const settingLeaf = (name: SettingName): object => {
  const { $schema, ...leaf } = z.toJSONSchema(rowOf(name).schema(), {
    target: "draft-7",
    io: "input",
    unrepresentable: "any",
  });
  return { [box]: { anyOf: [leaf, { type: "null" }], description: reference[name].text } };
};

const isValue = (name: SettingName): boolean => rowOf(name).secret !== true && reference[name].valueOnly !== true;

/** Settings that the chart passes on unchanged to a host. */
export const settingValues: readonly SettingName[] = namesFor("host").filter(
  (name) => isValue(name) && reasonOf(name, "helm") === undefined,
);

/** Settings of queues outside: a dispatcher has its queue inside. */
const otherQueues: ReadonlySet<SettingName> = new Set([
  ...(["fifoUrl", "delayUrl", "updatesUrl"] as const),
  ...(["natsUrl", "natsCredentials", "natsCaFile", "natsPrefix"] as const),
]);

/** Settings that the dispatcher or a function that it calls reads. */
const readInFunctions = [...new Set(dispatched.flatMap((name) => namesFor(name)))].filter(
  (name) => !otherQueues.has(name),
);

/** Settings that the chart passes on unchanged to functions. */
export const functionSettingValues: readonly SettingName[] = readInFunctions.filter(
  (name) =>
    isValue(name) && reasonOf(name, "functionsOverlay") === undefined && reference[name].absent?.helm === undefined,
);

/** Variables that mean something in each mode; the templates refuse another one. */
const variables = {
  host: namesFor("host").map(variableName),
  functions: readInFunctions.map(variableName),
};

const schema = (): object => {
  const leaves: readonly (readonly [string, object])[] = [
    ...Object.entries(usedValues).map(([path, shape]) => [path, leafOf(shape)] as const),
    ...[...new Set([...settingValues, ...functionSettingValues])].map(
      (name) => [`settings.${fileName(name)}`, settingLeaf(name)] as const,
    ),
    ...Object.keys(unneededValues).map((path) => [path, { [box]: {} }] as const),
    ...["basic", "custom", "service", "global"].map((path) => [path, { [box]: { type: "object" } }] as const),
  ];
  let tree: Node = {};
  for (const [path, leaf] of leaves) tree = placed(tree, path.split("."), leaf);
  return { $schema: "http://json-schema.org/draft-07/schema#", ...schemaOf(tree) };
};

const unneededHints = (): Readonly<Record<string, string>> => ({
  ...unneededValues,
  ...Object.fromEntries(Object.entries(elsewhere).map(([path, other]) => [path, `here it is called ${other}`])),
});

const folder = "helm/rekindle";

export const chartFiles = (version: string): readonly File[] => [
  {
    path: `${folder}/Chart.yaml`,
    text: yamlText({
      apiVersion: "v2",
      name: "rekindle",
      description:
        "Batch applications on Kubernetes, run and recovered: Spark's and Volcano's kinds without their controllers",
      type: "application",
      version,
      appVersion: version,
      kubeVersion: ">=1.30.0-0",
    }),
  },
  { path: `${folder}/values.schema.json`, text: `${JSON.stringify(schema(), null, 2)}\n` },
  { path: `${folder}/files/unneeded.yaml`, text: yamlText(unneededHints()) },
  { path: `${folder}/files/variables.yaml`, text: yamlText(variables) },
  { path: `${folder}/files/function-settings.yaml`, text: yamlText(functionSettings()) },
  { path: `${folder}/files/rights.yaml`, text: rightsText() },
];
