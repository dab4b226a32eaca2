/** Adds to our objects the fields that the API server fills in, for the comparison with stored objects. */
import type { Json } from "./compare.ts";
import { isRecord } from "./compare.ts";

/** True for values that Go's serialisation leaves out. */
const isSilent = (key: string, value: unknown): boolean =>
  value === "" && ["subPath", "subPathExpr", "medium"].includes(key) ? true : value === false && key === "readOnly";

const spoken = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(spoken);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => !isSilent(key, item))
      .map(([key, item]) => [key, spoken(item)]),
  );
};

const record = (value: unknown): Json => (isRecord(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Formats a quantity as the server does: 0.5 becomes 500m, 1000m becomes 1. */
const quantity = (value: unknown): unknown => {
  const match = /^(\d+(?:\.\d+)?)(m?)$/.exec(`${value}`);
  if (match === null) return value;
  const milli = Math.round(Number(match[1]) * (match[2] === "m" ? 1 : 1000));
  return milli % 1000 === 0 ? `${milli / 1000}` : `${milli}m`;
};

export const quantities = (value: unknown): Json =>
  Object.fromEntries(Object.entries(record(value)).map(([key, item]) => [key, quantity(item)]));

/** Adds a request for each limit without one. */
const resources = (value: unknown): Json => {
  const { limits, requests, ...rest } = record(value);
  if (limits === undefined && requests === undefined) return rest;
  return {
    ...rest,
    ...(limits === undefined ? {} : { limits: quantities(limits) }),
    requests: { ...quantities(limits), ...quantities(requests) },
  };
};

const pullPolicy = (image: unknown): string => (/:(?!latest$)[^/]+$/.test(`${image}`) ? "IfNotPresent" : "Always");

const variable = (value: unknown): unknown => {
  const one = record(value);
  const from = record(one["valueFrom"]);
  if (!isRecord(from["fieldRef"])) return one;
  return { ...one, valueFrom: { ...from, fieldRef: { apiVersion: "v1", ...from["fieldRef"] } } };
};

const probe = (value: unknown): Json => ({
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
  ...record(value),
});

const probes = ["livenessProbe", "readinessProbe", "startupProbe"];

const container = (value: unknown): Json => {
  const one = record(value);
  const probed = Object.fromEntries(
    probes.filter((key) => one[key] !== undefined).map((key) => [key, probe(one[key])]),
  );
  return {
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: pullPolicy(one["image"]),
    ...one,
    ...probed,
    resources: resources(one["resources"]),
    ...(one["env"] === undefined ? {} : { env: list(one["env"]).map(variable) }),
    ...(one["ports"] === undefined
      ? {}
      : { ports: list(one["ports"]).map((port) => ({ protocol: "TCP", ...record(port) })) }),
  };
};

const withMode = (source: unknown): Json => ({ defaultMode: 420, ...record(source) });

const volume = (value: unknown): Json => {
  const one = record(value);
  const kinds = ["configMap", "secret", "projected", "downwardAPI"].filter((kind) => one[kind] !== undefined);
  const host = one["hostPath"] === undefined ? {} : { hostPath: { type: "", ...record(one["hostPath"]) } };
  return { ...one, ...host, ...Object.fromEntries(kinds.map((kind) => [kind, withMode(one[kind])])) };
};

const waits = ["not-ready", "unreachable"].map((what) => ({
  effect: "NoExecute",
  key: `node.kubernetes.io/${what}`,
  operator: "Exists",
  tolerationSeconds: 300,
}));

const classes: Readonly<Record<string, number>> = {
  "system-cluster-critical": 2_000_000_000,
  "system-node-critical": 2_000_001_000,
};

/** Sets the service account under its deprecated field, too. */
const account = (spec: Json): Json => {
  const name = spec["serviceAccountName"] ?? spec["serviceAccount"];
  return name === undefined ? {} : { serviceAccountName: name, serviceAccount: name };
};

const pod = (spec: Json): Json => ({
  dnsPolicy: "ClusterFirst",
  enableServiceLinks: true,
  preemptionPolicy: "PreemptLowerPriority",
  priority: classes[`${spec["priorityClassName"]}`] ?? 0,
  restartPolicy: "Always",
  schedulerName: "default-scheduler",
  securityContext: {},
  terminationGracePeriodSeconds: 30,
  ...spec,
  ...account(spec),
  containers: list(spec["containers"]).map(container),
  ...(spec["initContainers"] === undefined ? {} : { initContainers: list(spec["initContainers"]).map(container) }),
  ...(spec["volumes"] === undefined ? {} : { volumes: list(spec["volumes"]).map(volume) }),
  tolerations: [...waits, ...list(spec["tolerations"])],
});

const service = (spec: Json): Json => ({
  clusterIPs: [spec["clusterIP"]],
  internalTrafficPolicy: "Cluster",
  sessionAffinity: "None",
  type: "ClusterIP",
  ...spec,
  ports: list(spec["ports"]).map((port) => ({ protocol: "TCP", ...record(port) })),
});

const policy = (spec: Json): Json => ({
  policyTypes: ["Ingress", ...(spec["egress"] === undefined ? [] : ["Egress"])],
  ...spec,
});

const fillers: Readonly<Record<string, (spec: Json) => Json>> = { Pod: pod, Service: service, NetworkPolicy: policy };

/** Returns our object as the server stores it. */
export const served = (object: Json): Json => {
  const fill = fillers[`${object["kind"]}`];
  const said = record(spoken(object));
  return fill === undefined ? said : { ...said, spec: fill(record(said["spec"])) };
};

const givenByServer = ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"];

/** Returns a stored object without the fields that only a server sets. */
export const asWritten = (object: Json): Json => {
  const { status: _status, ...rest } = object;
  const metadata = Object.fromEntries(
    Object.entries(record(object["metadata"])).filter(
      ([key, value]) => !givenByServer.includes(key) && JSON.stringify(value) !== "{}",
    ),
  );
  return { ...rest, metadata };
};
