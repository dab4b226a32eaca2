/** Checks of the chart with `mode: functions`: its objects, the rights of its functions, and their settings. */
import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { functionSettingValues } from "../../../infra/chart.ts";
import { dispatched, onDispatch } from "../../../infra/workloads.ts";
import { settingsFor } from "../../../shared/deployments/settings/read.ts";
import { fileName, namesFor, variableName } from "../../../shared/deployments/settings/table.ts";
import { functionGrants } from "../../../shared/installation/function-rights.ts";
import { samples } from "../../support/setting-samples.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Check, Manifest } from "./accepted.ts";
import { taken } from "./chart.ts";
import { differences, parsed, rendered, type Values, withoutDefinitions } from "./chart-objects.ts";

const calledPlace = { namespace: "rekindle", image: "rekindle:0.1.0" };

/** The chart's functions are those of the kustomize overlays `dispatch` and `dispatch-admission`. */
const sameFunctions: readonly Check[] = [false, true].map((admission) => ({
  name: `the chart with mode: functions is the overlay dispatch${admission ? "-admission if it enables the webhook" : ""}`,
  run: async () =>
    differences(
      withoutDefinitions(await rendered({ mode: "functions", webhook: { enable: admission } }, "rekindle")),
      parsed(onDispatch(calledPlace, { admission })),
    ),
}));

const roleShape = z.object({
  kind: z.enum(["ClusterRole", "Role"]),
  metadata: z.object({ name: z.string(), namespace: z.string().default("the cluster") }),
  rules: z.array(z.record(z.string(), z.unknown())),
});

/** A rule as text; Helm sorts its fields. */
const canonical = (rule: Values): string =>
  JSON.stringify(Object.entries(rule).toSorted(([a], [b]) => (a < b ? -1 : 1)));

const bindingShape = z.object({
  kind: z.enum(["ClusterRoleBinding", "RoleBinding"]),
  metadata: z.object({ namespace: z.string().default("the cluster") }),
  roleRef: z.object({ kind: z.string(), name: z.string() }),
  subjects: z.array(z.looseObject({ kind: z.string(), name: z.string() })),
});

/** Returns every rule of every subject and the place where it holds, as sorted texts, whatever the roles are called. */
const grantsIn = (objects: readonly Manifest[]): readonly string[] => {
  const roles = objects.flatMap((one) => roleShape.safeParse(one).data ?? []);
  const bindings = objects.flatMap((one) => bindingShape.safeParse(one).data ?? []);
  const texts = bindings.flatMap(({ metadata: { namespace: place }, roleRef, subjects }) => {
    const role = roles.find(
      ({ kind, metadata: { name, namespace } }) =>
        kind === roleRef.kind && name === roleRef.name && namespace === place,
    );
    if (role === undefined) return [`${roleRef.name} is bound in ${place} and not there`];
    return subjects.flatMap(({ name }) => role.rules.map((rule) => `${name} in ${place}: ${canonical(rule)}`));
  });
  return [...new Set(texts)].toSorted();
};

type FunctionRow = {
  readonly name: string;
  readonly values: Values;
  readonly rights: Partial<Parameters<typeof functionGrants>[0]>;
};

/** Where namespaces are named, the chart also creates the accounts of Spark's drivers. */
const withoutDrivers: Values = { rbac: { create: false }, serviceAccount: { create: false } };

const functionRows: readonly FunctionRow[] = [
  { name: "one family", values: { controller: { families: ["spark"] } }, rights: { families: ["spark"] } },
  { name: "the other family", values: { controller: { families: ["volcano"] } }, rights: { families: ["volcano"] } },
  {
    name: "features",
    values: { controller: { rbac: { features: ["ssh", "gang"] } } },
    rights: { features: ["ssh", "gang"] },
  },
  {
    name: "two namespaces",
    values: { spark: { jobNamespaces: ["team-a", "team-b"], ...withoutDrivers } },
    rights: { namespaces: ["team-a", "team-b"] },
  },
  {
    name: "a namespace, one family and a feature",
    values: {
      spark: { jobNamespaces: ["team-a"], ...withoutDrivers },
      controller: { families: ["spark"], rbac: { features: ["pod-http"] } },
    },
    rights: { namespaces: ["team-a"], families: ["spark"], features: ["pod-http"] },
  },
  {
    name: "nodes, and rights that no Role can grant, beside namespaces",
    values: {
      spark: { jobNamespaces: ["team-a", "team-b"], ...withoutDrivers },
      controller: { rbac: { nodes: true, features: ["kube-sign-in", "logs", "actions"] } },
    },
    rights: { namespaces: ["team-a", "team-b"], nodes: true, features: ["kube-sign-in", "logs", "actions"] },
  },
  {
    name: "webhooks, a namespace and one family",
    values: {
      spark: { jobNamespaces: ["team-a"], ...withoutDrivers },
      ...{ controller: { families: ["spark"] }, webhook: { enable: true } },
    },
    rights: { namespaces: ["team-a"], families: ["spark"], admission: true },
  },
  {
    name: "namespaces by labels, and nodes",
    values: { spark: { jobNamespaceSelector: "spark=enabled" }, controller: { rbac: { nodes: true } } },
    rights: { namespaceSelector: "spark=enabled", nodes: true },
  },
];

const sameRights = ({ name, values, rights }: FunctionRow): Check => ({
  name: `the chart with mode: functions and ${name} grants what rekindle manifests --functions does`,
  run: async () => {
    const found = grantsIn(withoutDefinitions(await rendered({ mode: "functions", ...values }, "rekindle")));
    const expected = grantsIn(parsed(functionGrants({ namespace: "rekindle", functions: dispatched, ...rights })));
    return [
      ...expected.filter((one) => !found.includes(one)).map((one) => `${one} is missing in the chart`),
      ...found.filter((one) => !expected.includes(one)).map((one) => `${one} is the chart's alone`),
    ];
  },
});

const settingsMapShape = z.object({
  kind: z.literal("ConfigMap"),
  metadata: z.object({ name: z.literal("rekindle-functions") }),
  data: z.record(z.string(), z.string()),
});

/** Returns the environment of a function under the chart's ConfigMap with these settings. */
const environmentOf = async (settings: Values): Promise<Readonly<Record<string, string>>> => {
  const objects = withoutDefinitions(await rendered({ mode: "functions", settings }, "rekindle"));
  const [map] = objects.flatMap((object) => settingsMapShape.safeParse(object).data ?? []);
  if (map === undefined) throw new Error("the chart has no ConfigMap rekindle-functions");
  const pod = { REKINDLE_CLUSTER_RECORD: "in-cluster", REKINDLE_LISTEN: "0.0.0.0:8080" };
  // From the Secret that the guide has its reader create.
  const secret = { REKINDLE_CALL_SECRET: "a secret that signs the calls of this check" };
  return { ...map.data, ...pod, ...secret };
};

/** Each setting of the chart, written as text, equals the value of its variable in each function that reads it. */
const functionSettings: Check = {
  name: "each setting among the chart's values arrives in the parsed settings of each function that a dispatcher calls",
  run: async () => {
    const values = Object.fromEntries(functionSettingValues.map((name) => [fileName(name), samples[name]]));
    const [all, usual] = [await environmentOf(values), await environmentOf({})];
    const wrong: string[] = [];
    for (const reader of dispatched) {
      const found: Values = settingsFor(reader, all);
      for (const name of namesFor(reader).filter((one) => functionSettingValues.includes(one))) {
        const expected: Values = settingsFor(reader, { ...usual, [variableName(name)]: samples[name] });
        if (!isDeepStrictEqual(found[name], expected[name]))
          wrong.push(`${reader}: ${name}: ${JSON.stringify(found[name])}`);
      }
    }
    return wrong;
  },
};

/** The values that hosts and functions share. */
const rich: Values = {
  mode: "functions",
  commonLabels: { team: "data" },
  image: { pullSecrets: [{ name: "registry" }], pullPolicy: "Always" },
  controller: {
    ...{ replicas: 2, workers: 20, logLevel: "debug", families: ["spark"], labels: { a: "b" } },
    ...{ annotations: { c: "d" }, env: [{ name: "REKINDLE_RESYNC", value: "1m" }] },
    ...{ volumes: [{ name: "tmp", emptyDir: {} }], volumeMounts: [{ name: "tmp", mountPath: "/tmp" }] },
    ...{ nodeSelector: { pool: "system" }, podSecurityContext: { fsGroup: 65_532 } },
    rbac: { nodes: true, features: ["ssh"], annotations: { e: "f" } },
    resources: { requests: { cpu: "1", memory: "256Mi" }, limits: { memory: "1Gi" } },
  },
  spark: { jobNamespaces: ["team-a"] },
  settings: { fence: "8s" },
};

export const functionChartChecks = (cluster: Cluster): readonly Check[] => [
  ...sameFunctions,
  ...functionRows.map(sameRights),
  taken(cluster, "mode: functions", { mode: "functions" }, "rekindle"),
  taken(cluster, "mode: functions and what users set, in a namespace of theirs", rich, "batch-functions"),
  functionSettings,
];
