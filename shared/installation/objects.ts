/**
 * The objects of an installation, as `rekindle manifests` prints them and `rekindle uninstall` finds them: containers
 * run as the user nobody with a read-only file system, probes and limits; admission has a Service and roles.
 */
import type { Obj } from "../core/object.ts";
import { noPodRules, type PodRules } from "../kube/admission.ts";
import { defaultFamilies, type Family, type Feature } from "../kube/resources.ts";
import { lookoutRules } from "./feature-rules.ts";
import {
  account,
  certificateRules,
  driverRules,
  featureRulesOf,
  featuresOfCluster,
  grant,
  hostRulesOf,
  identityRules,
  named,
  nodeRules,
  nodeWatchRules,
  noticeRules,
  ofDrivers,
  ourLabels,
  registrationRulesOf,
  selectionRules,
} from "./roles.ts";

/** Name of the Service, and of the Secret with its certificate. */
const name = "rekindle-admission";

const port = 9443;

export const admissionPort = { name: "admission", containerPort: port, protocol: "TCP" } as const;

const podArgs = ({ queueGate, groups }: PodRules): readonly string[] => [
  ...(queueGate ? ["--admission-queue-gate"] : []),
  ...(groups.length === 0 ? [] : [`--admission-resource-groups=${JSON.stringify(groups)}`]),
];

/** The host's flags for admission: its address, its Service, the Secret of the shared certificate, rules for pods. */
const admissionArgs = (namespace: string, pods: PodRules = noPodRules): readonly string[] => [
  "--admission",
  `--admission-listen=0.0.0.0:${port}`,
  `--admission-reach=${namespace}/${name}`,
  `--admission-secret=${namespace}/${name}`,
  "--admission-quota",
  ...podArgs(pods),
];

/** The variables of a function that serves admission at its Service and registers it. */
export const admissionVariables = (namespace: string) => ({
  REKINDLE_ADMISSION: "true",
  REKINDLE_ADMISSION_LISTEN: `0.0.0.0:${port}`,
  REKINDLE_ADMISSION_REACH: `${namespace}/${name}`,
  REKINDLE_ADMISSION_SECRET: `${namespace}/${name}`,
  REKINDLE_ADMISSION_QUOTA: "true",
});

const app = (name: string) => ({ "app.kubernetes.io/name": name });

type Place = {
  readonly namespace: string;
  readonly host: boolean;
  /** Absent: all. */
  readonly families?: readonly Family[] | undefined;
};

/** The Service at which the API server calls admission; `pods` undefined: its endpoints come from elsewhere. */
export const admissionService = (namespace: string, pods: string | undefined): Obj => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: named(name, namespace),
  spec: {
    ...(pods === undefined ? {} : { selector: app(pods) }),
    ports: [{ name: "https", port: 443, targetPort: port, protocol: "TCP" }],
  },
});

const admissionObjects = (place: Place): readonly Obj[] => {
  const to = [{ name: account, namespace: place.namespace }];
  return [
    admissionService(place.namespace, place.host ? "rekindle" : undefined),
    ...grant({
      name: `${account}-registration`,
      within: undefined,
      rules: registrationRulesOf(place.families ?? defaultFamilies),
      to,
    }),
    ...grant({ name: `${account}-certificate`, within: place.namespace, rules: certificateRules, to }),
  ];
};

const probe = (path: string, periodSeconds: number) => ({
  httpGet: { path, port: "http" },
  periodSeconds,
  timeoutSeconds: 3,
});

/** Alive while /healthz answers; ready while /readyz does. */
export const probes = {
  startupProbe: { ...probe("/healthz", 2), failureThreshold: 30 },
  livenessProbe: { ...probe("/healthz", 10), failureThreshold: 3 },
  readinessProbe: { ...probe("/readyz", 5), failureThreshold: 3 },
} as const;

export const containerSecurity = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
} as const;

export const podSecurity = {
  runAsNonRoot: true,
  runAsUser: 65_532,
  runAsGroup: 65_532,
  seccompProfile: { type: "RuntimeDefault" },
} as const;

/** Resource requests, and the memory limit. */
export const sized = (memory: string, most: string) => ({
  requests: { cpu: "50m", memory },
  limits: { memory: most },
});

export type Workload = {
  /** Of the Deployment, and the label of its pods. */
  readonly name: string;
  readonly namespace: string;
  readonly account: string;
  readonly container: object;
  /** 1, unless said otherwise. */
  readonly replicas?: number;
  readonly volumes?: readonly object[];
  /** Whether two may run while one is exchanged for the other. */
  readonly strategy: "Recreate" | "RollingUpdate";
};

export const deploymentOf = ({
  name,
  namespace,
  account,
  container,
  strategy,
  replicas = 1,
  volumes,
}: Workload): Obj => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: named(name, namespace),
  spec: {
    replicas,
    strategy: { type: strategy },
    selector: { matchLabels: app(name) },
    template: {
      metadata: { labels: { ...ourLabels, ...app(name) } },
      spec: {
        serviceAccountName: account,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 60,
        securityContext: podSecurity,
        containers: [container],
        ...(volumes === undefined ? {} : { volumes }),
      },
    },
  },
});

type Port = { readonly protocol: "TCP" | "UDP"; readonly port: number };

const tcp = (port: number): Port => ({ protocol: "TCP", port });

/** Egress ports: DNS, and HTTPS to the API server under its two usual ports, queues, tables and listeners. */
const outwards: readonly Port[] = [{ protocol: "UDP", port: 53 }, tcp(53), tcp(443), tcp(6443)];

/** A port that these networks alone may reach. */
type FencedPort = { readonly port: number; readonly from: readonly string[] };

const ingressTo = (ports: readonly (number | FencedPort)[]): readonly object[] => {
  const open = ports.filter((one) => typeof one === "number");
  const fenced = ports.filter((one) => typeof one !== "number");
  return [
    ...(open.length === 0 ? [] : [{ ports: open.map(tcp) }]),
    ...fenced.map(({ port, from }) => ({ from: from.map((cidr) => ({ ipBlock: { cidr } })), ports: [tcp(port)] })),
  ];
};

/**
 * A NetworkPolicy for pods of this name: ingress at these ports, from anywhere where no networks are given; egress for
 * DNS, HTTPS and `more` ports only.
 */
export const fenceOf = (
  name: string,
  namespace: string,
  ports: readonly (number | FencedPort)[],
  more: readonly number[] = [],
): Obj => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: named(name, namespace),
  spec: {
    podSelector: { matchLabels: app(name) },
    policyTypes: ["Ingress", "Egress"],
    ingress: ingressTo(ports),
    egress: [{ ports: [...outwards, ...more.map(tcp)] }],
  },
});

/** The Service of the pods of this name. */
export const serviceOf = (
  name: string,
  namespace: string,
  { name: port, port: at } = { name: "http", port: 80 },
): Obj => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: named(name, namespace),
  spec: { selector: app(name), ports: [{ name: port, port: at, targetPort: port, protocol: "TCP" }] },
});

export type Installation = {
  readonly namespace: string;
  readonly image: string;
  /** Namespaces in scope; empty: all, by a ClusterRole. */
  readonly namespaces: readonly string[];
  /** Label selector of further namespaces in scope. */
  readonly namespaceSelector?: string | undefined;
  /** Namespaces in which drivers run under the accounts made for them. */
  readonly sparkNamespaces: readonly string[];
  readonly sparkAccounts: readonly string[];
  /** Families of kinds that the host runs; absent: the default ones. */
  readonly families?: readonly Family[] | undefined;
  /** Features whose rights are granted; absent: none. */
  readonly features?: readonly Feature[] | undefined;
  /** Whether the host runs in the cluster, too. */
  readonly host: boolean;
  /** Whether the host may look up nodes that are about to go, and cordon them. */
  readonly nodes?: boolean;
  /** Whether the host serves admission webhooks. */
  readonly admission: boolean;
  /** Networks of the API servers, which alone may reach the port of admission; absent or empty: all networks. */
  readonly admissionFrom?: readonly string[] | undefined;
  /** Rules by which admission changes pods; absent: none. */
  readonly pods?: PodRules | undefined;
  /** Whether a PodMonitor names the host to the Prometheus operator. */
  readonly podMonitor?: boolean;
};

/** A ClusterRole of its own for nodes, which have no namespace. */
const nodeGrants = ({ namespace, nodes = false }: Installation): readonly Obj[] =>
  nodes
    ? grant({
        name: "rekindle-nodes",
        within: undefined,
        rules: [...nodeRules, ...noticeRules, ...nodeWatchRules],
        to: [{ name: account, namespace }],
      })
    : [];

const hostGrants = (installation: Installation): readonly Obj[] => {
  const { namespace, namespaces, namespaceSelector = "", families: chosen = defaultFamilies } = installation;
  const hostRules = hostRulesOf(chosen);
  const to = [{ name: account, namespace }];
  if (namespaces.length === 0 || namespaceSelector !== "") {
    const rules = [...hostRules, ...lookoutRules, ...nodeRules];
    return [
      ...grant({ name: "rekindle-host", within: undefined, rules, to }),
      ...(namespaceSelector === ""
        ? []
        : grant({ name: "rekindle-namespaces", within: undefined, rules: selectionRules, to })),
    ];
  }
  return [
    ...namespaces.flatMap((within) => grant({ name: "rekindle-host", within, rules: hostRules, to })),
    ...grant({ name: "rekindle-identity", within: "kube-system", rules: identityRules, to }),
  ];
};

/** A role for each feature, so that it can be seen by its name and removed alone. */
const featureGrants = (installation: Installation): readonly Obj[] => {
  const { namespace, namespaces, namespaceSelector = "", families: chosen = defaultFamilies } = installation;
  const places = namespaceSelector === "" && namespaces.length > 0 ? namespaces : [undefined];
  const to = [{ name: account, namespace }];
  return (installation.features ?? []).flatMap((feature) => {
    const rules = featureRulesOf(feature, chosen);
    const everywhere = featuresOfCluster.has(feature) ? [undefined] : places;
    return everywhere.flatMap((within) => grant({ name: `rekindle-${feature}`, within, rules, to }));
  });
};

const forDrivers = (object: Obj): Obj => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...ofDrivers } },
});

export const driverGrants = ({
  sparkNamespaces,
  sparkAccounts,
}: Pick<Installation, "sparkNamespaces" | "sparkAccounts">): readonly Obj[] =>
  sparkNamespaces
    .flatMap((within) => [
      ...sparkAccounts.map((name) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata: named(name, within) })),
      ...grant({
        name: "rekindle-driver",
        within,
        rules: driverRules,
        to: sparkAccounts.map((name) => ({ name, namespace: within })),
      }),
    ])
    .map(forDrivers);

/** Name of the optional ConfigMap and of the optional Secret with settings of the host. */
export const settingsName = "rekindle-settings";

const settingsFrom = [
  { configMapRef: { name: settingsName, optional: true } },
  { secretRef: { name: settingsName, optional: true } },
];

/** An emptyDir: it outlasts restarts of the container and is deleted with the pod. */
const stateFolder = "/var/lib/rekindle";
const state = { name: "state", emptyDir: { sizeLimit: "16Mi" } };

const container = ({
  image,
  namespaces,
  namespaceSelector = "",
  families: chosen,
  namespace,
  admission,
  pods,
}: Installation) => ({
  name: "host",
  image,
  args: ["host", ...(admission ? admissionArgs(namespace, pods) : [])],
  env: [
    { name: "REKINDLE_LISTEN", value: "0.0.0.0:8080" },
    { name: "REKINDLE_STATE_DIRECTORY", value: stateFolder },
    ...(namespaces.length === 0 ? [] : [{ name: "REKINDLE_NAMESPACES", value: namespaces.join(",") }]),
    ...(namespaceSelector === "" ? [] : [{ name: "REKINDLE_NAMESPACE_SELECTOR", value: namespaceSelector }]),
    ...(chosen === undefined ? [] : [{ name: "REKINDLE_FAMILIES", value: chosen.join(",") }]),
  ],
  envFrom: settingsFrom,
  ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }, ...(admission ? [admissionPort] : [])],
  volumeMounts: [{ name: "state", mountPath: stateFolder }],
  ...probes,
  resources: sized("128Mi", "512Mi"),
  securityContext: containerSecurity,
});

/** Has the Prometheus operator scrape the host. */
const monitorOf = (name: string, namespace: string): Obj => ({
  apiVersion: "monitoring.coreos.com/v1",
  kind: "PodMonitor",
  metadata: named(name, namespace),
  spec: { selector: { matchLabels: app(name) }, podMetricsEndpoints: [{ port: "http", path: "/metrics" }] },
});

/** The host's Deployment, its Service, its NetworkPolicy, and its PodMonitor where one is wanted. */
const hostObjects = (installation: Installation): readonly Obj[] => {
  const { namespace, admission, admissionFrom: from = [], podMonitor = false } = installation;
  const name = "rekindle";
  const { containerPort: port } = admissionPort;
  const ports = admission ? [8080, from.length === 0 ? port : { port, from }] : [8080];
  return [
    deploymentOf({
      ...{ name, namespace, account, volumes: [state] },
      container: container(installation),
      strategy: "Recreate",
    }),
    serviceOf(name, namespace),
    fenceOf(name, namespace, ports),
    ...(podMonitor ? [monitorOf(name, namespace)] : []),
  ];
};

/** A namespace at the strictest pod security level: only Rekindle's pods run in it, and they comply. */
export const namespaceOf = (name: string): Obj => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels: { ...ourLabels, "pod-security.kubernetes.io/enforce": "restricted" } },
});

/** Everything but the CRDs, in the order in which it can be applied. */
export const objectsOf = (installation: Installation): readonly Obj[] => [
  namespaceOf(installation.namespace),
  { apiVersion: "v1", kind: "ServiceAccount", metadata: named(account, installation.namespace) },
  ...hostGrants(installation),
  ...featureGrants(installation),
  ...nodeGrants(installation),
  ...driverGrants(installation),
  ...(installation.admission ? admissionObjects(installation) : []),
  ...(installation.host ? hostObjects(installation) : []),
];
