/** Who may do what: the least that the host needs, and what Spark's drivers need, each in one table. */
import { type Family, families } from "../../kube/families.ts";

export type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

export const rule = (group: string, resources: readonly string[], verbs: readonly string[]): Rule => ({
  apiGroups: [group],
  resources,
  verbs,
});

/** Each rule with the family whose kinds need it; "any": every installation does. */
type Needed = readonly [of: Family | "any", rule: Rule];

const needed: readonly Needed[] = [
  // Created by a schedule; deleted when its timeToLiveSeconds is over, or by its schedule.
  ["spark", rule("sparkoperator.k8s.io", ["sparkapplications"], ["get", "list", "watch", "create", "delete"])],
  ["spark", rule("sparkoperator.k8s.io", ["scheduledsparkapplications", "sparkconnects"], ["get", "list", "watch"])],
  [
    "spark",
    rule(
      "sparkoperator.k8s.io",
      ["sparkapplications/status", "scheduledsparkapplications/status", "sparkconnects/status"],
      ["patch"],
    ),
  ],
  // What is created is owned by the application; some clusters ask for this right of whoever names such an owner.
  [
    "spark",
    rule(
      "sparkoperator.k8s.io",
      ["sparkapplications/finalizers", "scheduledsparkapplications/finalizers", "sparkconnects/finalizers"],
      ["update"],
    ),
  ],
  ["any", rule("", ["pods"], ["get", "list", "watch", "create", "delete"])],
  // The last word of an executor whose node is lost: its driver goes by it.
  ["spark", rule("", ["pods/status"], ["patch"])],
  // What a driver says by its REST API of the executors that it knows; what a probe of a JobFlow asks a pod.
  ["any", rule("", ["pods/proxy"], ["get"])],
  // Watched: a SparkConnect's service or config map that somebody removes is made again at once.
  ["any", rule("", ["services", "configmaps"], ["get", "list", "watch", "create", "delete"])],
  ["any", rule("", ["persistentvolumeclaims"], ["get", "list", "create", "delete"])],
  ["any", rule("networking.k8s.io", ["networkpolicies"], ["get", "list", "create", "delete"])],
  ["spark", rule("networking.k8s.io", ["ingresses"], ["get", "list", "create", "delete"])],
  ["spark", rule("policy", ["poddisruptionbudgets"], ["get", "list", "create", "delete"])],
  // Of Volcano and of the coscheduling plugin, for applications that name them as their batch scheduler; of Volcano's jobs.
  ["any", rule("scheduling.volcano.sh", ["podgroups"], ["get", "list", "watch", "create", "delete"])],
  ["volcano", rule("scheduling.volcano.sh", ["podgroups"], ["patch"])],
  ["spark", rule("scheduling.x-k8s.io", ["podgroups"], ["get", "list", "create", "delete"])],
  // Volcano's jobs: deleted when their time to live is over, changed to name the claims that are made for them.
  ["volcano", rule("batch.volcano.sh", ["jobs"], ["get", "list", "watch", "delete"])],
  ["volcano", rule("batch.volcano.sh", ["jobs"], ["patch"])],
  ["volcano", rule("batch.volcano.sh", ["jobs/status"], ["patch"])],
  ["volcano", rule("batch.volcano.sh", ["jobs/finalizers"], ["update"])],
  // Orders to jobs and queues, each taken away when it is remembered.
  ["volcano", rule("bus.volcano.sh", ["commands"], ["list", "watch", "delete"])],
  // What makes jobs, on time or one after the other.
  ["volcano", rule("batch.volcano.sh", ["jobs"], ["create"])],
  ["volcano", rule("batch.volcano.sh", ["cronjobs"], ["get", "list", "watch"])],
  ["volcano", rule("batch.volcano.sh", ["cronjobs/status"], ["patch"])],
  ["volcano", rule("batch.volcano.sh", ["cronjobs/finalizers"], ["update"])],
  ["volcano", rule("flow.volcano.sh", ["jobflows", "jobtemplates"], ["get", "list", "watch"])],
  ["volcano", rule("flow.volcano.sh", ["jobflows/status", "jobtemplates/status"], ["patch"])],
  ["volcano", rule("flow.volcano.sh", ["jobflows/finalizers"], ["update"])],
  // Queues: the two that everybody counts on are made, parents and marks of closed parents written down.
  ["volcano", rule("scheduling.volcano.sh", ["queues"], ["get", "list", "watch", "create"])],
  ["volcano", rule("scheduling.volcano.sh", ["queues"], ["patch"])],
  ["volcano", rule("scheduling.volcano.sh", ["queues/status"], ["patch"])],
  // Pods of Volcano's scheduler that nobody has put into a group: its name is written down, and their controllers say how large it is.
  ["volcano", rule("", ["pods"], ["patch"])],
  ["volcano", rule("apps", ["replicasets", "statefulsets", "daemonsets"], ["get"])],
  ["volcano", rule("batch", ["jobs"], ["get"])],
  ["volcano", rule("scheduling.k8s.io", ["priorityclasses"], ["get"])],
  // The keys by which the pods of a job reach each other: each by its name, none is ever listed.
  ["volcano", rule("", ["secrets"], ["get", "create", "delete"])],
  // What a SparkConnect's executors are made from and the hosts of a job's pods, and labels that somebody took away.
  ["any", rule("", ["services", "configmaps"], ["patch"])],
  ["any", rule("", ["events"], ["create"])],
  // Who is told of changes of state: an annotation of the namespace. Of kube-system, which cluster this is.
  ["any", rule("", ["namespaces"], ["get"])],
  ["any", rule("rekindle.dev", ["checkpoints"], ["get", "list", "create", "update", "delete"])],
];

/** What the host needs wherever it looks after applications of these families. */
export const hostRulesOf = (chosen: readonly Family[]): readonly Rule[] =>
  needed.flatMap(([of, one]) => (of === "any" || chosen.includes(of) ? [one] : []));

/** What the host needs for all families. */
export const hostRules: readonly Rule[] = hostRulesOf(families);

/** To see whether another controller of these kinds is alive, wherever it lives; without it the host says that it is blind. */
export const lookoutRules: readonly Rule[] = [
  rule("coordination.k8s.io", ["leases"], ["list"]),
  rule("apps", ["deployments"], ["list"]),
];

/** To tell an executor whose node is dead or gone from one that is only not ready; without it only what the cluster says of pods counts. */
export const nodeRules: readonly Rule[] = [rule("", ["nodes"], ["get"])];

/** To know a machine of which somebody says that it goes, and to close its node to further pods; without it that is only told. */
export const noticeRules: readonly Rule[] = [rule("", ["nodes"], ["list", "patch"])];

/** The cluster's identity is the UID of its kube-system namespace: whoever looks after others only needs a Role there. */
export const identityRules: readonly Rule[] = [
  { ...rule("", ["namespaces"], ["get"]), resourceNames: ["kube-system"] },
];

/** To know which namespaces a label selector chooses, and when there is another one. */
export const selectionRules: readonly Rule[] = [rule("", ["namespaces"], ["list"])];

/** What a driver does in its namespace: it makes and ends its executors and what they need. */
export const driverRules: readonly Rule[] = [
  rule(
    "",
    ["pods", "services", "configmaps", "persistentvolumeclaims"],
    ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"],
  ),
];

/** What serving admission takes beside that: to register itself, and to look at quotas, queues and a namespace's own queue. */
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
  rule("", ["resourcequotas"], ["list"]),
  ...(chosen.includes("volcano") ? [rule("scheduling.volcano.sh", ["queues"], ["list"])] : []),
  rule("", ["namespaces"], ["get"]),
];

/** The same for all families. */
export const registrationRules: readonly Rule[] = registrationRulesOf(families);

/** In the host's own namespace: the certificate that its replicas share. */
export const certificateRules: readonly Rule[] = [
  rule("", ["secrets"], ["create"]),
  { ...rule("", ["secrets"], ["get", "update"]), resourceNames: ["rekindle-admission"] },
];
