/**
 * Another controller, and a tenant that forges every sign of it; and the judge that steps write nothing beside the first
 * and do not mind the second.
 *
 * B1. Nothing is written later than 75 s after the controller began; nothing at all if it ran when the application came.
 *     Sightings of it are recorded all the same.
 * B2. No sighting names what the tenant has forged.
 * B3. Without a fault, sightings show a controller at most once for each time that it begins.
 */
import { assertNever } from "../../../shared/core/http.ts";
import type { Change } from "../../../shared/simulator/storage/store.ts";
import { at, textAt } from "./fields.ts";
import { forked } from "./forked.ts";
import { type Swept, sweptOf } from "./kinds.ts";
import { home } from "./objects.ts";
import type { Oracle } from "./oracle.ts";
import { appName, type ControllerAction, type ControllerSign, namespace, type Scenario } from "./scenario.ts";

type Write = readonly [method: string, path: string, body?: object, agent?: string];

/** A controller as charts install it: image, labels of its pods, and user agent. */
type Installed = {
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly agent: string;
  readonly lease: string;
  /** The right that an administrator gives to its account in all namespaces. */
  readonly right: { readonly apiGroups: readonly string[]; readonly resources: readonly string[] };
  /** The part of a status that it writes repeatedly. */
  readonly status: Readonly<Record<string, object>>;
};

const kubeflows: Installed = {
  image: "ghcr.io/kubeflow/spark-operator/controller:2.4.0",
  labels: { "app.kubernetes.io/name": "spark-operator", "app.kubernetes.io/component": "controller" },
  agent: "spark-operator/v2.4.0 (linux/amd64)",
  lease: "spark-operator-controller-lock",
  right: { apiGroups: ["sparkoperator.k8s.io"], resources: ["sparkapplications/status"] },
  status: { executorState: { "other-exec-1": "RUNNING" } },
};

const volcanos: Installed = {
  image: "docker.io/volcanosh/vc-controller-manager:v1.13.0",
  labels: { app: "volcano-controller" },
  agent: "vc-controller-manager/v1.13.0 (linux/amd64)",
  lease: "vc-controller-manager",
  right: { apiGroups: ["batch.volcano.sh"], resources: ["jobs/status"] },
  status: { taskStatusCount: { "task-1": { phase: { Running: 1 } } } },
};

const installed = ({ group }: Swept): Installed => (group === "sparkoperator.k8s.io" ? kubeflows : volcanos);

/** A namespace of administrators that no setting names: the rights of an account show that the controller counts. */
const operators = "operators";
/** A namespace of administrators that the settings name. */
const listed = "kube-system";

const deploymentsIn = (place: string): string => `/apis/apps/v1/namespaces/${place}/deployments`;
const podsIn = (place: string): string => `/api/v1/namespaces/${place}/pods`;
const leasesIn = (place: string): string => `/apis/coordination.k8s.io/v1/namespaces/${place}/leases`;
const rbac = "rbac.authorization.k8s.io";
const controller = "controllers";
/** Name of the object that the tenant writes, which Rekindle leaves alone. */
const other = `${appName}-other`;

const podSpec = ({ image }: Installed): object => ({
  serviceAccountName: controller,
  containers: [{ name: "controller", image, args: ["--leader-elect=false"] }],
});

const account = (namespace: string): Write => [
  "POST",
  `/api/v1/namespaces/${namespace}/serviceaccounts`,
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: controller, namespace } },
];

const deployment = (about: Installed, namespace: string): Write => [
  "POST",
  deploymentsIn(namespace),
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: controller, namespace },
    spec: {
      selector: { matchLabels: about.labels },
      template: { metadata: { labels: about.labels }, spec: podSpec(about) },
    },
  },
];

/** An administrator lets the controller of a namespace write the status in all namespaces. */
const administered = ({ right }: Installed): readonly Write[] => [
  ["POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: operators } }],
  account(operators),
  [
    "POST",
    `/apis/${rbac}/v1/clusterroles`,
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRole",
      metadata: { name: controller },
      rules: [{ ...right, verbs: ["update"] }],
    },
  ],
  [
    "POST",
    `/apis/${rbac}/v1/clusterrolebindings`,
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: controller },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: controller },
      subjects: [{ kind: "ServiceAccount", name: controller, namespace: operators }],
    },
  ],
];

/** A pod without a node agent of the simulator: it is Ready from the beginning. */
const pod = (about: Installed, namespace: string): readonly Write[] => [
  [
    "POST",
    podsIn(namespace),
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: controller, namespace, labels: about.labels },
      spec: { ...podSpec(about), schedulingGates: [{ name: "example.com/elsewhere" }] },
    },
  ],
  [
    "PATCH",
    `${podsIn(namespace)}/${controller}/status`,
    { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
  ],
];

const renewed = (now: number, leaseDurationSeconds: number): object => ({
  spec: {
    ...{ holderIdentity: controller, leaseDurationSeconds },
    renewTime: new Date(now).toISOString().replace("Z", "000Z"),
  },
});

const lease = ({ lease: name }: Installed, namespace: string, now: number, seconds: number): Write => [
  "POST",
  leasesIn(namespace),
  { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, namespace }, ...renewed(now, seconds) },
];

/** Makes the server track the fields of an object. */
const tracked = ({ group, version }: Swept, now: number): object => ({
  metadata: {
    managedFields: [
      {
        ...{ manager: "kubectl", operation: "Update", apiVersion: `${group}/${version}` },
        ...{ time: new Date(now).toISOString().replace(/\.\d+/, ""), fieldsType: "FieldsV1" },
        fieldsV1: { "f:spec": {} },
      },
    ],
  },
});

const written = (now: number, swept: Swept, about: Installed): readonly Write[] => {
  const path = `/apis/${swept.group}/${swept.version}/namespaces/${namespace}/${swept.plural}/${other}`;
  const taken = Object.fromEntries(Object.keys(about.status).map((field) => [field, null]));
  const needed = about === kubeflows ? { driverInfo: {} } : {};
  return [
    ["PATCH", path, tracked(swept, now)],
    // The time of a share is that of its newest field, so the newest field must be another one.
    ["PATCH", `${path}/status`, { status: { ...needed, ...taken } }, about.agent],
    ["PATCH", `${path}/status`, { status: about.status }, about.agent],
  ];
};

/** What a tenant forges in its namespace before the application comes: every sign of a controller. */
export const forgedAtFirst = (scenario: Scenario, now: number): readonly Write[] => {
  const about = installed(sweptOf(scenario));
  return [
    ...administered(about),
    account(namespace),
    account(listed),
    lease(about, namespace, now, 2_147_483_647),
    deployment(about, namespace),
    ...pod(about, namespace),
  ];
};

const begun = (by: ControllerSign, about: Installed, now: number): readonly Write[] => {
  if (by === "deployment") return [deployment(about, operators)];
  if (by === "pod") return pod(about, listed);
  return by === "lease" ? [lease(about, listed, now, 15)] : [];
};

const gone = {
  deployment: [["DELETE", `${deploymentsIn(operators)}/${controller}`]],
  pod: [["DELETE", `${podsIn(listed)}/${controller}`]],
  lease: [],
  none: [],
} as const;

/** The writes of the other controller at an instant, or of the tenant that forges it. */
export const controllerWrites = (does: ControllerAction, scenario: Scenario, now: number): readonly Write[] => {
  const swept = sweptOf(scenario);
  const about = installed(swept);
  const by = scenario.beside?.by ?? "none";
  switch (does) {
    case "begins":
      return begun(by, about, now);
    case "renews":
      return [["PATCH", `${leasesIn(listed)}/${about.lease}`, renewed(now, 15)]];
    case "goes":
      return gone[by];
    case "forges":
      return written(now, swept, about);
    case "deletes":
      return [["DELETE", `/apis/${swept.group}/${swept.version}/namespaces/${namespace}/${swept.plural}/${other}`]];
    default:
      return assertNever(does);
  }
};

const boundMs = 75_000;
/** A lease counts for its 15 s, and some grace. */
const leaseMs = 20_000;

type Facts = {
  violations: string[];
  since: number | undefined;
  renewedAt: number | undefined;
  begins: number;
  /** The number of times at which sightings began to show a controller; and whether they do now. */
  shows: number;
  shown: boolean;
};

const fresh = (): Facts => ({
  ...{ violations: [], since: undefined, renewedAt: undefined },
  ...{ begins: 0, shows: 0, shown: false },
});

const isSighting = ({ table, object }: Change): boolean =>
  table === "checkpoints.rekindle.dev" &&
  object.metadata.namespace === home &&
  object.metadata.name === "cursor.controllers";

/** True for the Deployment, the Ready pod or the lease of the real controller. */
const isReal = ({ table, object: { metadata, ...object } }: Change): boolean => {
  if (metadata.namespace === namespace) return false;
  if (table === "deployments.apps") return metadata.name === controller;
  if (table === "leases.coordination.k8s.io") return true;
  const conditions = at(object, "status", "conditions");
  const isReady = Array.isArray(conditions) && conditions.some((one) => textAt(one, "type") === "Ready");
  return table === "pods" && metadata.name === controller && isReady;
};

const signs = /(runs as the deployment|runs in the pod|holds the lease) [^"\\]+/g;

/** The judge of a scenario with another controller. */
export const apart = (judge: Oracle, about: Swept, facts: Facts = fresh()): Oracle => {
  const blame = (what: string): void => {
    if (!facts.violations.includes(what)) facts.violations.push(what);
  };
  const hearReal = (change: Change, now: number): void => {
    const isLapsed = facts.renewedAt !== undefined && now - facts.renewedAt > leaseMs;
    if (isLapsed) Object.assign(facts, { since: undefined, renewedAt: undefined });
    if (!isReal(change)) return;
    if (change.type === "DELETED") facts.since = undefined;
    else if (facts.since === undefined) Object.assign(facts, { since: now, begins: facts.begins + 1 });
    if (change.table === "leases.coordination.k8s.io") facts.renewedAt = now;
  };
  const hearSighting = ({ object }: Change): void => {
    const shown = JSON.stringify(object).match(signs) ?? [];
    for (const sign of shown.filter((one) => one.includes(` ${namespace}/`))) blame(`B2: a sighting says: it ${sign}`);
    if (shown.length > 0 && !facts.shown) facts.shows += 1;
    facts.shown = shown.length > 0;
  };
  const hearSubject = ({ type, table, object }: Change): void => {
    const isNew = object.metadata.name === appName && table === about.table && type === "ADDED";
    if (isNew && facts.since !== undefined) facts.since = Number.NEGATIVE_INFINITY;
  };
  return {
    ...judge,
    hear: (change, actor, now) => {
      if (isSighting(change)) return hearSighting(change);
      hearReal(change, now);
      hearSubject(change);
      const { table, object, type } = change;
      if (actor === "engine" && facts.since !== undefined && now - facts.since > boundMs)
        blame(`B1: ${type} ${table}/${object.metadata.name} beside a controller at work`);
      judge.hear(change, actor, now);
    },
    violations: () => [...facts.violations, ...judge.violations()],
    faultless: () => [
      ...(judge.faultless?.() ?? []),
      ...(facts.shows > facts.begins ? [`B3: sightings began ${facts.shows} times for ${facts.begins}`] : []),
    ],
    copy: () => apart(judge.copy(), about, forked(facts)),
  };
};
