/** Constraints of every container of Rekindle: user nobody, read-only file system, probes and limits. */
import type { Obj } from "../../core/object.ts";
import { named } from "./grants.ts";
import { ours } from "./marks.ts";

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

const app = (name: string) => ({ "app.kubernetes.io/name": name });

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
      metadata: { labels: { ...ours, ...app(name) } },
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

/**
 * A NetworkPolicy for pods of this name: ingress at these ports from anywhere, egress for DNS, HTTPS and `more` ports
 * only.
 */
export const fenceOf = (
  name: string,
  namespace: string,
  ports: readonly number[],
  more: readonly number[] = [],
): Obj => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: named(name, namespace),
  spec: {
    podSelector: { matchLabels: app(name) },
    policyTypes: ["Ingress", "Egress"],
    ingress: ports.length === 0 ? [] : [{ ports: ports.map(tcp) }],
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
