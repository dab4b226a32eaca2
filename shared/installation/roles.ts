/**
 * RBAC: the least rights that the host needs, and those that Spark's drivers need, each in one table; the roles and
 * bindings made of them, with Rekindle's names and labels; the table of rights in the docs.
 */

import type { Obj } from "../core/object.ts";
import { type CoreFeature, type Family, type Feature, families, featureResource, features } from "../kube/resources.ts";
import { installations } from "../registry/installations.ts";
import { actionRules, lookoutRules, nativeRules, reviewRules, sizeRules } from "./feature-rules.ts";
import { kindRules, type Rule, rule } from "./rule.ts";

/** A rule, the family whose kinds need it ("any": all installations), and its purpose for the table of rights. */
export type Needed = { readonly of: Family | "any"; readonly rule: Rule; readonly for: string };

const need = (of: Needed["of"], needs: Rule, why: string): Needed => ({ of, rule: needs, for: why });

/** Makes one right of those of one group that differ in the resource alone. */
const merged = (all: readonly Needed[]): readonly Needed[] =>
  [
    ...Map.groupBy(all, (one) => JSON.stringify([one.of, one.rule.apiGroups, one.rule.verbs, one.for])).values(),
  ].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [
          {
            ...first,
            rule: { ...first.rule, resources: [first, ...others].flatMap(({ rule: { resources } }) => resources) },
          },
        ],
  );

/** Where a status or the page tells what Kueue says. */
export const kueueViewRule: Rule = rule("kueue.x-k8s.io", ["workloads"], ["list"]);

/** For kinds whose Workloads Rekindle makes. */
const queuedRule: Rule = rule("kueue.x-k8s.io", ["workloads"], ["get", "list", "watch", "create", "delete"]);

/** The rights of steps on the objects of their kinds. */
const ofKinds: readonly Needed[] = installations.flatMap(({ kind: { resource, family }, rights }) =>
  rights.map(({ on, verbs, for: why }) =>
    need(family, rule(resource.group, [`${resource.plural}${on === undefined ? "" : `/${on}`}`], verbs), why),
  ),
);

/** The rights that the host has without any feature. */
const needed: readonly Needed[] = [
  ...merged(ofKinds),
  need(
    "any",
    rule("", ["pods"], ["get", "list", "watch", "create", "delete"]),
    "run drivers, executors, servers and tasks",
  ),
  need(
    "spark",
    rule("", ["pods/status"], ["patch"]),
    "mark executors of a lost node as failed, because the driver reads their status",
  ),
  need(
    "any",
    rule("", ["services", "configmaps"], ["get", "list", "watch", "create", "delete"]),
    "addresses and settings of drivers, servers and jobs; one that is deleted is created again at once",
  ),
  need(
    "any",
    rule("", ["services", "configmaps"], ["patch"]),
    "update what belongs to a changed Connect server or job, and restore labels",
  ),
  need(
    "any",
    rule("", ["persistentvolumeclaims"], ["get", "list", "create", "delete"]),
    "claims of executors and of jobs",
  ),
  need(
    "any",
    rule("networking.k8s.io", ["networkpolicies"], ["get", "list", "create", "delete"]),
    "who may reach a Connect server, or pods of a job's svc plugin",
  ),
  need(
    "spark",
    rule("networking.k8s.io", ["ingresses"], ["get", "list", "create", "delete"]),
    "web UIs under --ingress-url-format, Connect servers under --connect-host-format",
  ),
  need(
    "spark",
    rule("gateway.networking.k8s.io", ["httproutes"], ["get", "list", "create", "delete"]),
    "web UIs under --ingress-url-format at --ui-gateway",
  ),
  need(
    "spark",
    rule("gateway.networking.k8s.io", ["grpcroutes"], ["get", "list", "create"]),
    "Connect servers under --connect-host-format at --ui-gateway",
  ),
  need(
    "apache",
    rule("networking.k8s.io", ["ingresses"], ["get", "list", "create", "delete"]),
    "ingresses of `driverServiceIngressList`",
  ),
  need(
    "apache",
    rule("gateway.networking.k8s.io", ["httproutes", "grpcroutes"], ["get", "list", "create", "delete"]),
    "routes of `driverHttpRouteList` and `driverGrpcRouteList`",
  ),
  need(
    "apache",
    rule("apps", ["statefulsets"], ["get", "list", "watch", "create", "patch", "delete"]),
    "masters and workers of clusters",
  ),
  need(
    "apache",
    rule("autoscaling", ["horizontalpodautoscalers"], ["get", "list", "create", "patch", "delete"]),
    "autoscalers of the workers of clusters",
  ),
  need(
    "apache",
    rule("networking.k8s.io", ["networkpolicies"], ["patch"]),
    "change the policy of the workers of a cluster",
  ),
  need(
    "spark",
    rule("policy", ["poddisruptionbudgets"], ["get", "list", "create", "delete"]),
    "drivers whose application asks for a PodDisruptionBudget",
  ),
  need(
    "apache",
    rule("policy", ["poddisruptionbudgets"], ["get", "list", "create", "delete"]),
    "budgets of the workers of clusters",
  ),
  need("apache", rule("policy", ["poddisruptionbudgets"], ["patch"]), "change the budget of the workers of a cluster"),
  need(
    "any",
    rule("scheduling.volcano.sh", ["podgroups"], ["get", "list", "watch", "create", "delete"]),
    "groups of jobs, and of applications with Volcano as batch scheduler",
  ),
  need(
    "volcano",
    rule("scheduling.volcano.sh", ["podgroups"], ["patch"]),
    "change a group with its job, and admit groups where Volcano's scheduler is missing",
  ),
  need(
    "spark",
    rule("scheduling.x-k8s.io", ["podgroups"], ["get", "list", "create", "delete"]),
    "groups of applications with the coscheduling plugin",
  ),
  need(
    "volcano",
    rule("bus.volcano.sh", ["commands"], ["list", "watch", "delete"]),
    "read Commands for jobs and queues; delete each one once it is recorded",
  ),
  need("volcano", rule("", ["pods"], ["patch"]), "add bare pods of Volcano's scheduler to PodGroups"),
  need(
    "volcano",
    rule("apps", ["replicasets", "statefulsets", "daemonsets"], ["get"]),
    "size the PodGroup of such pods",
  ),
  need("volcano", rule("batch", ["jobs"], ["get"]), "size the PodGroup of such pods"),
  need("volcano", rule("scheduling.k8s.io", ["priorityclasses"], ["get"]), "order groups by priority"),
  need("spark", rule("scheduling.k8s.io", ["priorityclasses"], ["get"]), "the rank of Workloads by their pods"),
  ...sizeRules.map((one) => need("volcano", one, "count what is added to pods, for plans and capabilities of queues")),
  need("volcano", queuedRule, "admit jobs with Kueue's queue label"),
  need(
    "spark",
    rule("kueue.x-k8s.io", ["workloads"], ["list", "watch", "create", "delete"]),
    "growths of applications with Kueue's queue label; show what Kueue reports about these",
  ),
  need("apache", queuedRule, "admit applications with Kueue's queue label; show what Kueue reports about these"),
  need("apache", rule("scheduling.k8s.io", ["priorityclasses"], ["get"]), "the rank of Workloads by their pods"),
  need("spark", rule("kueue.x-k8s.io", ["workloads"], ["patch"]), "change the number of a growth that waits"),
  need("any", rule("kueue.x-k8s.io", ["workloads/status"], ["patch"]), "return the quota of such jobs and growths"),
  need("any", rule("kueue.x-k8s.io", ["workloadpriorityclasses"], ["get"]), "the rank of Workloads by their label"),
  need("any", rule("kueue.x-k8s.io", ["resourceflavors"], ["get"]), "the nodes of such jobs and growths"),
  need("any", rule("", ["events"], ["create", "list"]), "report what happened; read why a pod does not start"),
  need(
    "any",
    rule("", ["namespaces"], ["get"]),
    "find the listener of status updates (an annotation); which cluster this is (kube-system's UID)",
  ),
  need("any", rule("rekindle.dev", ["checkpoints"], ["get", "list", "create", "update", "delete"]), "keep records"),
];

const isNeeded = (of: Family | "any", chosen: readonly Family[]): boolean => of === "any" || chosen.includes(of);

/** The family whose kinds have the feature. */
const familyWith: Readonly<Record<Feature, Family | "any">> = {
  ssh: "volcano",
  "pod-http": "any",
  gang: "volcano",
  "gang-evict": "volcano",
  "gang-native": "volcano",
  logs: "any",
  "kept-logs": "spark",
  actions: "any",
  "kube-sign-in": "any",
};

type FeatureNeeds = { readonly for: string };

const coreNeeds: Readonly<Record<CoreFeature, FeatureNeeds & { readonly verbs: readonly string[] }>> = {
  ssh: { verbs: ["get", "create", "delete"], for: "the keys of Volcano's ssh plugin, one Secret a job" },
  "pod-http": {
    verbs: ["get"],
    for: "HTTP requests to pods: drivers whose executors Rekindle creates, stalled drivers, probes of JobFlows",
  },
  gang: { verbs: ["list"], for: "the room of nodes and HyperNodes for groups of pods, with `gang: builtin`" },
  "gang-evict": { verbs: ["create"], for: "evictions of pods for groups that lack room, within disruption budgets" },
  logs: { verbs: ["get"], for: "logs of pods on the page: each caller that may read a namespace then reads its logs" },
  "kept-logs": { verbs: ["get"], for: "logs of drivers, kept before their pods are deleted, with `keepDriverLogs`" },
};

export const featureNeeds: Readonly<Record<Feature, FeatureNeeds>> = {
  ...coreNeeds,
  "gang-native": {
    for: "PodGroups of Kubernetes for groups of pods, with `gang: native`; whether the API server serves them is read first",
  },
  actions: {
    for: "actions on the page: callers with the ability `act` pause, resume, suspend and delete, open and close queues",
  },
  "kube-sign-in": { for: "sign-in to the page with a token of Kubernetes, with `pageKubeTokens`" },
};

/** Features whose rights are on what has no namespace: a ClusterRole grants them in any case. */
export const featuresOfCluster: ReadonlySet<Feature> = new Set(["kube-sign-in"]);

/** The rights of one feature, where these families are run. */
export const featureRulesOf = (feature: Feature, chosen: readonly Family[]): readonly Rule[] => {
  if (!isNeeded(familyWith[feature], chosen)) return [];
  if (feature === "actions") return actionRules(chosen);
  if (feature === "kube-sign-in") return reviewRules;
  if (feature === "gang-native") return nativeRules;
  const own = rule("", [featureResource[feature]], coreNeeds[feature].verbs);
  if (feature === "gang") return [own, rule("topology.volcano.sh", ["hypernodes"], ["list"])];
  return feature === "gang-evict" ? [own, rule("policy", ["poddisruptionbudgets"], ["list"])] : [own];
};

/** Leaves out the rules that an earlier one repeats: two families may need the same. */
const distinct = (rules: readonly Rule[]): readonly Rule[] => [
  ...new Map(rules.map((one) => [JSON.stringify(one), one])).values(),
];

/** The host's rules in its scope, for these families and features. */
export const hostRulesOf = (chosen: readonly Family[], wanted: readonly Feature[] = []): readonly Rule[] =>
  distinct([
    ...needed.flatMap(({ of, rule: one }) => (isNeeded(of, chosen) ? [one] : [])),
    ...wanted.flatMap((feature) => featureRulesOf(feature, chosen)),
  ]);

/** The host's rules for all families and all features. */
export const hostRules: readonly Rule[] = hostRulesOf(families, features);

/** Rules to tell a dead or deleted node from one that is only not ready; without them only the pods' status counts. */
export const nodeRules: readonly Rule[] = [rule("", ["nodes"], ["get"])];

/** Rules to find the node of a notice and to cordon it; without them the notice is only reported. */
export const noticeRules: readonly Rule[] = [rule("", ["nodes"], ["list", "patch"])];

/** Rules to see that a node was deleted: see the setting `watchNodes`. */
export const nodeWatchRules: readonly Rule[] = [rule("", ["nodes"], ["list", "watch"])];

/** The cluster's identity is the UID of its kube-system namespace: a host of other namespaces needs a Role there. */
export const identityRules: readonly Rule[] = [
  { ...rule("", ["namespaces"], ["get"]), resourceNames: ["kube-system"] },
];

/** Rules to find the namespaces that a label selector selects, also later ones. */
export const selectionRules: readonly Rule[] = [rule("", ["namespaces"], ["list"])];

/** A driver's rules in its namespace: it creates and deletes its executors and their objects. */
export const driverRules: readonly Rule[] = [
  rule(
    "",
    ["pods", "services", "configmaps", "persistentvolumeclaims"],
    ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"],
  ),
];

/** Further rules for admission: to register itself, and to read quotas, queues, and the queue of a namespace. */
export const registrationRulesOf = (chosen: readonly Family[]): readonly Rule[] => [
  rule(
    "admissionregistration.k8s.io",
    ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
    ["create"],
  ),
  {
    ...rule(
      "admissionregistration.k8s.io",
      ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
      ["get", "patch"],
    ),
    resourceNames: ["rekindle"],
  },
  rule("", ["resourcequotas", "limitranges"], ["list"]),
  rule("node.k8s.io", ["runtimeclasses"], ["list"]),
  ...kindRules(chosen, ({ admissionReads }) => admissionReads),
  rule("", ["namespaces"], ["get"]),
];

/** The rules for admission of all families. */
export const registrationRules: readonly Rule[] = registrationRulesOf(families);

/** Rules in the host's namespace for the Secret with the certificate that its replicas share. */
export const certificateRules: readonly Rule[] = [
  rule("", ["secrets"], ["create"]),
  { ...rule("", ["secrets"], ["get", "update"]), resourceNames: ["rekindle-admission"] },
];

/** Rules in the dispatcher's namespace for the lease of which one dispatcher is the holder. */
export const leaseRules: readonly Rule[] = [
  rule("coordination.k8s.io", ["leases"], ["create"]),
  { ...rule("coordination.k8s.io", ["leases"], ["get", "patch"]), resourceNames: ["rekindle-dispatcher"] },
];

export const ourLabels = { "app.kubernetes.io/name": "rekindle", "app.kubernetes.io/managed-by": "rekindle" } as const;

/** Additional label of the accounts and roles of Spark's drivers: they stay while there may be drivers. */
export const ofDrivers = { "app.kubernetes.io/component": "driver" } as const;

const rbac = "rbac.authorization.k8s.io/v1";
/** Name of the host's service account. */
export const account = "rekindle";

export const named = (name: string, namespace?: string) => ({
  name,
  ...(namespace === undefined ? {} : { namespace }),
  labels: ourLabels,
});

/** An account of the cluster, or a group that its logins name. */
export type Grantee = { readonly name: string; readonly namespace: string } | { readonly group: string };

const subject = (to: Grantee) =>
  "group" in to
    ? { apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: to.group }
    : { kind: "ServiceAccount", name: to.name, namespace: to.namespace };

type Grant = {
  readonly name: string;
  /** Namespace; undefined: the whole cluster. */
  readonly within: string | undefined;
  readonly rules: readonly Rule[];
  readonly to: readonly Grantee[];
};

/** A role and its binding. */
export const grant = ({ name, within, rules, to }: Grant): readonly Obj[] => {
  const kind = within === undefined ? "ClusterRole" : "Role";
  return [
    { apiVersion: rbac, kind, metadata: named(name, within), rules },
    {
      apiVersion: rbac,
      kind: `${kind}Binding`,
      metadata: named(name, within),
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name },
      subjects: to.map(subject),
    },
  ];
};

type Row = { readonly rule: Rule; readonly when: string; readonly for: string };

const flagged = (when: string, rules: readonly Rule[], why: string): readonly Row[] =>
  rules.map((one) => ({ rule: one, when, for: why }));

const familyText = { spark: "Spark", volcano: "Volcano", apache: "Apache's Spark", any: "always" } as const;

const ofFeatures: readonly Row[] = features.flatMap((feature) => {
  const of = familyWith[feature];
  const when = `\`--features ${feature}\`${of === "any" ? "" : `, ${familyText[of]}`}`;
  return flagged(when, featureRulesOf(feature, families), featureNeeds[feature].for);
});

const rows: readonly Row[] = [
  ...needed.map(({ of, rule: one, for: why }) => ({ rule: one, when: familyText[of], for: why })),
  ...flagged(
    "without `--namespaces`",
    lookoutRules,
    "see whether another controller of these kinds is alive, and whether an administrator has installed it",
  ),
  ...flagged("without `--namespaces`", nodeRules, "tell an executor on a dead node from one that is late"),
  ...flagged("`--namespaces`", identityRules, "which cluster this is, by a Role in kube-system"),
  ...ofFeatures,
  ...flagged("`--nodes`", [...nodeRules, ...noticeRules], "find and cordon the node of a machine that is about to go"),
  ...flagged("`--nodes`", nodeWatchRules, "with the setting `watchNodes`, see that a node was deleted"),
  ...flagged("`--namespace-selector`", selectionRules, "which namespaces have these labels"),
  ...flagged("`--admission`", registrationRules, "register admission; look at quotas and queues"),
  ...flagged("`--admission`", certificateRules, "the certificate, by a Role in the host's own namespace"),
];

const resourcesText = ({ apiGroups: [group = ""], resources, resourceNames = [] }: Rule): string => {
  const names = resourceNames.length === 0 ? "" : ` ${resourceNames.join(", ")}`;
  return `${resources.map((one) => `\`${one}${group === "" ? "" : `.${group}`}\``).join(", ")}${names}`;
};

export const rightsTable = (): string =>
  [
    "| to | on | when | what for |",
    "| --- | --- | --- | --- |",
    ...rows.map((row) => `| ${row.rule.verbs.join(", ")} | ${resourcesText(row.rule)} | ${row.when} | ${row.for} |`),
  ].join("\n");
