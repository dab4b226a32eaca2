/**
 * The lanes that show which rights an account uses (`functions` and `dispatch` are part of `infra:check`), and the rare rights that no
 * lane is sure to use, each with the test that needs it.
 */

/** By account: a right counts as unused only after all of these lanes have run. Empty: no lane uses this account. */
export const lanesOf: Readonly<Record<string, readonly string[]>> = {
  rekindle: ["main-ours", "spark-ours", "recovery-ours", "volcano-ours", "admission-ours"],
  "rekindle with admission": ["admission-ours"],
  "rekindle with apache": ["apache-ours"],
  "rekindle-forward": ["functions", "lambda", "e2e-nats"],
  "rekindle-reconcile": ["functions", "lambda", "e2e-nats"],
  "rekindle-resync": ["functions", "lambda", "e2e-nats"],
  "rekindle-dispatch": ["dispatch"],
  "rekindle-deliver": ["dispatch", "e2e-nats"],
  "rekindle-api": [],
  "rekindle-admission": [],
  "rekindle-submitter": [],
};

export type Rare = {
  readonly account: string;
  readonly rights: readonly string[];
  /** A file, and a part of the test's name in it. */
  readonly test: readonly [file: string, name: string];
};

const of = (group: string, resources: readonly string[], verbs: readonly string[]): readonly string[] =>
  resources.flatMap((what) => verbs.map((verb) => `${verb} ${what}${group === "" ? "" : `.${group}`}`));

/** A test that removes each of the host's rights in turn: a run on the simulator is then refused. */
const eachOfTheHost = ["test/unit/host/rights.test.ts", "are too few without"] as const;

/**
 * Rights that the API server checks for owner references without a separate request, in clusters with
 * OwnerReferencesPermissionEnforcement.
 */
const owners = [
  ...of(
    "sparkoperator.k8s.io",
    ["sparkapplications/finalizers", "scheduledsparkapplications/finalizers", "sparkconnects/finalizers"],
    ["update"],
  ),
  ...of("batch.volcano.sh", ["jobs/finalizers", "cronjobs/finalizers"], ["update"]),
  ...of("flow.volcano.sh", ["jobflows/finalizers"], ["update"]),
];

/** Rights for rare options, lost answers, and ends that take longer than a lane. */
const seldom = [
  ...of("sparkoperator.k8s.io", ["sparkapplications"], ["delete"]),
  ...of("sparkoperator.k8s.io", ["scheduledsparkapplications", "sparkconnects"], ["get"]),
  ...of("sparkoperator.k8s.io", ["sparkconnects"], ["delete"]),
  ...of("", ["pods"], ["get", "patch"]),
  ...of("", ["pods/status"], ["patch"]),
  ...of("", ["pods/proxy"], ["get"]),
  ...of("", ["pods/eviction"], ["create"]),
  ...of("", ["services", "configmaps"], ["get", "delete", "patch"]),
  ...of("", ["persistentvolumeclaims"], ["get", "list", "create", "delete"]),
  ...of("networking.k8s.io", ["networkpolicies"], ["get", "list", "delete"]),
  ...of("networking.k8s.io", ["ingresses"], ["get", "list", "create", "delete"]),
  // Only the cluster of the family spark serves routes, in one case.
  ...of("gateway.networking.k8s.io", ["httproutes"], ["get", "list", "create", "delete"]),
  ...of("gateway.networking.k8s.io", ["grpcroutes"], ["get", "list", "create"]),
  ...of("policy", ["poddisruptionbudgets"], ["get", "list", "create", "delete"]),
  ...of("scheduling.volcano.sh", ["podgroups"], ["get", "delete", "patch"]),
  ...of("scheduling.x-k8s.io", ["podgroups"], ["get", "list", "create", "delete"]),
  ...of("batch.volcano.sh", ["jobs"], ["get", "patch", "delete"]),
  ...of("batch.volcano.sh", ["cronjobs"], ["get"]),
  ...of("flow.volcano.sh", ["jobflows", "jobtemplates"], ["get"]),
  ...of("flow.volcano.sh", ["jobtemplates/status"], ["patch"]),
  ...of("scheduling.volcano.sh", ["queues"], ["get", "patch"]),
  ...of("apps", ["replicasets", "statefulsets", "daemonsets"], ["get"]),
  ...of("batch", ["jobs"], ["get"]),
  ...of("scheduling.k8s.io", ["priorityclasses"], ["get"]),
  ...of("scheduling.k8s.io", ["podgroups"], ["get", "list", "create", "patch", "delete"]),
  ...of("apiregistration.k8s.io", ["apiservices"], ["get"]),
  ...of("kueue.x-k8s.io", ["workloads"], ["get", "list", "create", "delete"]),
  ...of("kueue.x-k8s.io", ["workloads/status"], ["patch"]),
  ...of("kueue.x-k8s.io", ["resourceflavors", "workloadpriorityclasses"], ["get"]),
  ...of("", ["secrets"], ["get", "delete"]),
  ...of("", ["nodes"], ["get", "list"]),
  ...of("", ["limitranges"], ["list"]),
  ...of("node.k8s.io", ["runtimeclasses"], ["list"]),
  ...of("topology.volcano.sh", ["hypernodes"], ["list"]),
  ...of("", ["events"], ["list"]),
  ...of("rekindle.dev", ["checkpoints"], ["delete"]),
];

/** Rights of Volcano's kinds, schedules and servers: the lane `functions` runs Spark applications. */
const notOfApplications = [
  ...of("sparkoperator.k8s.io", ["sparkapplications"], ["list", "create"]),
  ...of("sparkoperator.k8s.io", ["scheduledsparkapplications", "sparkconnects"], ["list"]),
  ...of("sparkoperator.k8s.io", ["scheduledsparkapplications/status", "sparkconnects/status"], ["patch"]),
  ...of("", ["pods"], ["delete"]),
  ...of("", ["services", "configmaps"], ["list"]),
  ...of("scheduling.volcano.sh", ["podgroups"], ["list", "create"]),
  ...of("scheduling.volcano.sh", ["queues"], ["list", "create"]),
  ...of("scheduling.volcano.sh", ["queues/status"], ["patch"]),
  ...of("batch.volcano.sh", ["jobs"], ["list", "create"]),
  ...of("batch.volcano.sh", ["cronjobs"], ["list"]),
  ...of("batch.volcano.sh", ["jobs/status", "cronjobs/status"], ["patch"]),
  ...of("bus.volcano.sh", ["commands"], ["list", "delete"]),
  ...of("flow.volcano.sh", ["jobflows", "jobtemplates"], ["list"]),
  ...of("flow.volcano.sh", ["jobflows/status"], ["patch"]),
  ...of("", ["secrets"], ["create"]),
  ...of("networking.k8s.io", ["networkpolicies"], ["create"]),
];

/** Rights of the page's actions: no lane on a real control plane acts on the page. */
const ofActions = [
  ...of(
    "sparkoperator.k8s.io",
    ["sparkapplications", "scheduledsparkapplications", "sparkconnects"],
    ["patch", "delete"],
  ),
  ...of("batch.volcano.sh", ["jobs", "cronjobs"], ["patch", "delete"]),
  ...of("flow.volcano.sh", ["jobflows"], ["patch", "delete"]),
  ...of("bus.volcano.sh", ["commands"], ["create"]),
  ...of("scheduling.volcano.sh", ["queues"], ["get"]),
  ...of("", ["events"], ["create"]),
];

/** Rights to sign in with a token of Kubernetes: no lane on a real control plane does. */
const ofSignIn = [
  ...of("authentication.k8s.io", ["tokenreviews"], ["create"]),
  ...of("authorization.k8s.io", ["subjectaccessreviews"], ["create"]),
];

/** Rights of the account of a controller that stands outside the namespaces of administrators: lanes have none there. */
const ofForeignAccounts = [
  ...of("rbac.authorization.k8s.io", ["clusterrolebindings"], ["list"]),
  ...of("rbac.authorization.k8s.io", ["clusterroles"], ["get"]),
];

/** The watch of Workloads: Kueue's definitions are in the clusters of few lanes. */
const ofKueue = of("kueue.x-k8s.io", ["workloads"], ["list", "watch"]);

const actionsOfFunctions = [
  "test/unit/deployments/reading.test.ts",
  "actions of the page use each right of their feature",
] as const;

const records = (...verbs: readonly string[]): readonly string[] => of("rekindle.dev", ["checkpoints"], verbs);

export const rare: readonly Rare[] = [
  {
    account: "rekindle-dispatch",
    rights: records("create", "update"),
    test: [
      "test/unit/deployments/common/controller-sightings.test.ts",
      "saves a detected controller, and writes nothing",
    ],
  },
  {
    account: "rekindle-dispatch",
    rights: [
      ...of("sparkoperator.k8s.io", ["sparkapplications", "scheduledsparkapplications", "sparkconnects"], ["get"]),
      ...of("batch.volcano.sh", ["jobs", "cronjobs"], ["get"]),
      ...of("flow.volcano.sh", ["jobflows"], ["get"]),
      ...of("scheduling.k8s.io", ["priorityclasses"], ["get"]),
      ...ofSignIn,
      ...of("", ["events"], ["list"]),
      ...of("", ["pods/log"], ["get"]),
    ],
    test: ["test/unit/deployments/reading.test.ts", "page of a dispatcher needs only the rights"],
  },
  {
    account: "rekindle",
    rights: [
      ...[...owners, ...seldom, ...ofKueue, ...ofSignIn, ...of("", ["pods/log"], ["get"])],
      ...ofActions.filter((right) => right !== "create events"),
    ],
    test: eachOfTheHost,
  },
  {
    account: "rekindle with apache",
    rights: [
      ...of("spark.apache.org", ["sparkapplications"], ["get"]),
      ...of("spark.apache.org", ["sparkapplications/finalizers", "sparkclusters/finalizers"], ["update"]),
      ...of("spark.apache.org", ["sparkclusters"], ["get", "patch", "delete"]),
      // StatefulSets go with the SparkCluster that owns them, unless a cleanup was asked for.
      ...of("apps", ["statefulsets"], ["delete"]),
      // The lane's SparkClusters have as many workers as their user writes, and policies that nobody changes.
      ...of("autoscaling", ["horizontalpodautoscalers"], ["get", "list", "create", "patch", "delete"]),
      ...of("networking.k8s.io", ["networkpolicies"], ["patch"]),
      ...of("policy", ["poddisruptionbudgets"], ["patch"]),
      ...of("gateway.networking.k8s.io", ["grpcroutes"], ["delete"]),
    ],
    test: eachOfTheHost,
  },
  ...["rekindle", "rekindle-forward", "rekindle-dispatch", "rekindle-reconcile", "rekindle-resync"].map((account) => ({
    account,
    rights: ofForeignAccounts,
    test: [
      "test/unit/forward/controller-detection.test.ts",
      "a Deployment elsewhere whose account has a right by a binding",
    ] as const,
  })),
  { account: "rekindle-dispatch", rights: ofKueue, test: eachOfTheHost },
  { account: "rekindle-forward", rights: ofKueue, test: eachOfTheHost },
  { account: "rekindle-dispatch", rights: ofActions, test: actionsOfFunctions },
  { account: "rekindle-api", rights: ofActions, test: actionsOfFunctions },
  { account: "rekindle-reconcile", rights: [...owners, ...seldom, ...notOfApplications], test: eachOfTheHost },
  {
    account: "rekindle-reconcile",
    rights: of("", ["pods/log"], ["get"]),
    test: ["test/unit/host/kept-logs.test.ts", "keeps the end of its driver's log"],
  },
  {
    // A step looks for other controllers itself if neither the forwarder nor a resync has done so.
    account: "rekindle-reconcile",
    rights: of("apps", ["deployments"], ["list"]),
    test: ["test/unit/deployments/common/controller-sightings.test.ts", "read the record again within a minute"],
  },
  {
    // A patch that creates an object is a creation for the authorizer, and a patch in the audit log.
    account: "rekindle with admission",
    rights: of(
      "admissionregistration.k8s.io",
      ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"],
      ["create"],
    ),
    test: ["test/real/e2e/admission/cases.ts", "uninstall takes registration"],
  },
  {
    account: "rekindle-forward",
    rights: records("list", "create", "update"),
    test: ["test/unit/deployments/forward/function.test.ts", "stores its cursors as checkpoints in its own namespace"],
  },
  {
    account: "rekindle-resync",
    rights: records("create", "update"),
    test: ["test/unit/deployments/resync/function.test.ts", "that runs out of time continues in the next run"],
  },
  {
    account: "rekindle-deliver",
    rights: [
      ...of("sparkoperator.k8s.io", ["sparkapplications", "scheduledsparkapplications", "sparkconnects"], ["get"]),
      ...of("batch.volcano.sh", ["jobs", "cronjobs"], ["get"]),
      ...of("flow.volcano.sh", ["jobflows", "jobtemplates"], ["get"]),
      ...of("scheduling.volcano.sh", ["queues"], ["get"]),
      ...records("delete"),
    ],
    test: ["test/unit/updates/crash.test.ts", "is delivered although its sender dies"],
  },
  {
    account: "rekindle-api",
    rights: [
      ...of(
        "sparkoperator.k8s.io",
        ["sparkapplications", "scheduledsparkapplications", "sparkconnects"],
        ["get", "list"],
      ),
      ...of("batch.volcano.sh", ["jobs", "cronjobs"], ["get", "list"]),
      ...of("flow.volcano.sh", ["jobflows"], ["get", "list"]),
      ...of("scheduling.volcano.sh", ["podgroups", "queues"], ["list"]),
      ...of("scheduling.k8s.io", ["priorityclasses"], ["get"]),
      ...of("kueue.x-k8s.io", ["workloads"], ["list"]),
      ...ofSignIn,
      ...of("", ["pods", "events"], ["list"]),
      ...of("", ["pods/log"], ["get"]),
      ...records("get", "list"),
    ],
    test: ["test/unit/deployments/reading.test.ts", "reads use each of its rights, and need no other"],
  },
  {
    account: "rekindle-admission",
    rights: [
      ...of("", ["resourcequotas", "limitranges"], ["list"]),
      ...["list runtimeclasses.node.k8s.io", "list queues.scheduling.volcano.sh", "get namespaces"],
    ],
    test: ["test/unit/deployments/admission/quotas.test.ts", "are read once in a second for each namespace"],
  },
  {
    account: "rekindle-submitter",
    rights: [
      ...of("", ["pods", "services", "configmaps", "persistentvolumeclaims"], ["get", "create"]),
      ...of("networking.k8s.io", ["networkpolicies"], ["get", "create"]),
    ],
    test: [
      "test/unit/deployments/submitter/function.test.ts",
      "that dies at any of its calls is completed by the next try",
    ],
  },
];
