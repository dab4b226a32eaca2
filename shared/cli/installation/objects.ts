/** The objects of an installation, as `rekindle manifests` prints them and `rekindle uninstall` finds them. */
import type { Obj } from "../../core/object.ts";
import { type Family, families } from "../../kube/families.ts";
import type { Feature } from "../../kube/features.ts";
import type { PodRules } from "../../kube/pod-rules.ts";
import { admissionArgs, admissionObjects, admissionPort } from "./admission.ts";
import { account, grant, named } from "./grants.ts";
import { ofDrivers, ours } from "./marks.ts";
import {
  driverRules,
  featureRulesOf,
  hostRulesOf,
  identityRules,
  lookoutRules,
  nodeRules,
  noticeRules,
  selectionRules,
} from "./roles.ts";
import { containerSecurity, deploymentOf, fenceOf, probes, serviceOf, sized } from "./workload.ts";

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
  /** Families of kinds that the host runs; absent: all. */
  readonly families?: readonly Family[] | undefined;
  /** Features whose rights are granted; absent: none. */
  readonly features?: readonly Feature[] | undefined;
  /** Whether the host runs in the cluster, too. */
  readonly host: boolean;
  /** Whether the host may look up nodes that are about to go, and cordon them. */
  readonly nodes?: boolean;
  /** Whether the host serves admission webhooks. */
  readonly admission: boolean;
  /** Rules by which admission changes pods; absent: none. */
  readonly pods?: PodRules | undefined;
};

/** A ClusterRole of its own for nodes, which have no namespace. */
const nodeGrants = ({ namespace, nodes = false }: Installation): readonly Obj[] =>
  nodes
    ? grant({
        name: "rekindle-nodes",
        within: undefined,
        rules: [...nodeRules, ...noticeRules],
        to: [{ name: account, namespace }],
      })
    : [];

const hostGrants = (installation: Installation): readonly Obj[] => {
  const { namespace, namespaces, namespaceSelector = "", families: chosen = families } = installation;
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
  const { namespace, namespaces, namespaceSelector = "", families: chosen = families } = installation;
  const places = namespaceSelector === "" && namespaces.length > 0 ? namespaces : [undefined];
  const to = [{ name: account, namespace }];
  return (installation.features ?? []).flatMap((feature) => {
    const rules = featureRulesOf(feature, chosen);
    return places.flatMap((within) => grant({ name: `rekindle-${feature}`, within, rules, to }));
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

/** The host's Deployment, its Service and its NetworkPolicy. */
const hostObjects = (installation: Installation): readonly Obj[] => {
  const { namespace, admission } = installation;
  const name = "rekindle";
  return [
    deploymentOf({
      ...{ name, namespace, account, volumes: [state] },
      container: container(installation),
      strategy: "Recreate",
    }),
    serviceOf(name, namespace),
    fenceOf(name, namespace, admission ? [8080, admissionPort.containerPort] : [8080]),
  ];
};

/** A namespace at the strictest pod security level: only Rekindle's pods run in it, and they comply. */
export const namespaceOf = (name: string): Obj => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels: { ...ours, "pod-security.kubernetes.io/enforce": "restricted" } },
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
