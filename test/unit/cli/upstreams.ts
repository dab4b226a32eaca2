/**
 * An upstream installation on the simulator: Deployments that scale up and down, a leader that renews its lease,
 * webhook configurations.
 */
import * as z from "zod";
import type { Obj } from "../../../shared/core/object.ts";
import type { Simulator } from "../../../shared/simulator/open.ts";
import { make } from "./terminal.ts";

export type Deployed = {
  readonly name: string;
  readonly replicas: number;
  readonly image: string;
  readonly args: readonly string[];
  /** ConfigMaps that its pods mount. */
  readonly configMaps?: readonly string[];
};

/** The installed objects, and the Deployment that leads. */
export type Upstream = {
  readonly home: string;
  readonly deployments: readonly Deployed[];
  readonly hooks: readonly Obj[];
  /** The name of its leader's lease; false: it elects no leader. */
  readonly lease: string | false;
  /** The Deployment that leads. */
  readonly leader: string;
};

export const workload = (namespace: string, { name, replicas, image, args, configMaps = [] }: Deployed): Obj => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        containers: [{ name, image, args }],
        volumes: configMaps.map((configMap) => ({ name: configMap, configMap: { name: configMap } })),
      },
    },
  },
});

export type Registered = {
  readonly kind: "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration";
  readonly name: string;
  readonly service: { readonly name: string; readonly namespace: string };
  /** The group and resource whose requests are sent to each path of the webhook server. */
  readonly rules: Readonly<Record<string, { readonly group: string; readonly resource: string }>>;
};

/** Returns a webhook configuration with failure policy Fail. */
export const hook = ({ kind, name, service, rules }: Registered): Obj => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind,
  metadata: { name, labels: { "app.kubernetes.io/name": name } },
  webhooks: Object.entries(rules).map(([path, { group, resource }], index) => ({
    name: `hook-${index}.${name}.example`,
    admissionReviewVersions: ["v1"],
    sideEffects: "NoneOnDryRun",
    failurePolicy: "Fail",
    timeoutSeconds: 10,
    clientConfig: { service: { ...service, path, port: 443 }, caBundle: "Zm9v" },
    rules: [{ apiGroups: [group], apiVersions: ["*"], operations: ["CREATE"], resources: [resource] }],
  })),
});

/** The time in which a Deployment scales, ms. */
const podsMs = 3_000;

const deployment = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ replicas: z.number() }),
  status: z.looseObject({ replicas: z.number().default(0) }).default({ replicas: 0 }),
});

const lease = z.looseObject({
  spec: z.looseObject({
    holderIdentity: z.string().default(""),
    renewTime: z.string(),
    leaseDurationSeconds: z.number(),
  }),
});

export type Living = {
  /** Times at which its controller led. */
  readonly led: readonly number[];
};

const micros = (at: number): string => new Date(at).toISOString().replace("Z", "000Z");

/** Scales the Deployments and renews the lease at every turn of the simulator's clock. */
const live = (simulator: Simulator, { home, deployments, leader, lease: name }: Upstream, led: number[]): void => {
  const call = (method: string, path: string, body?: unknown, type = "application/merge-patch+json"): unknown =>
    JSON.parse(simulator.handle({ method, path, headers: { "content-type": type }, body: JSON.stringify(body) }).body);
  const since = new Map<string, number>();
  const pods = (which: string, now: number): number => {
    const path = `/apis/apps/v1/namespaces/${home}/deployments/${which}`;
    const found = deployment.safeParse(call("GET", path));
    if (!found.success) return 0;
    const { spec, status } = found.data;
    if (spec.replicas === status.replicas) since.delete(which);
    else if (!since.has(which)) since.set(which, now);
    if (now - (since.get(which) ?? now) < podsMs) return status.replicas;
    const next = { replicas: spec.replicas, availableReplicas: spec.replicas, readyReplicas: spec.replicas };
    call("PATCH", `${path}/status`, { status: next });
    return spec.replicas;
  };
  const lead = (now: number, which: string): void => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${home}/leases/${which}`;
    const found = lease.safeParse(call("GET", path));
    const { holderIdentity = "", renewTime = "", leaseDurationSeconds = 0 } = found.data?.spec ?? {};
    const isFree = holderIdentity === "" || Date.parse(renewTime) + leaseDurationSeconds * 1_000 < now;
    if (!found.success || (!isFree && holderIdentity !== "operator-1")) return;
    const spec = { holderIdentity: "operator-1", leaseDurationSeconds: 15, renewTime: micros(now) };
    call("PATCH", path, { spec });
    led.push(now);
  };
  simulator.clock.onTurn((now) => {
    const standing = new Map(deployments.map((one) => [one.name, pods(one.name, now)]));
    if ((standing.get(leader) ?? 0) > 0 && name !== false) lead(now, name);
  });
};

/** Advances the clock by this many seconds, one at a time. */
export const pass = ({ clock }: Simulator, seconds: number): void => {
  for (let left = seconds; left > 0; left--) clock.advanceTo(clock.now() + 1_000);
};

/** Returns a lease that its holder has just renewed. */
export const renewed = ({ clock }: Simulator, name: string, namespace: string): Obj => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name, namespace },
  spec: { holderIdentity: "operator-1", leaseDurationSeconds: 15, renewTime: micros(clock.now()) },
});

/** Installs the upstream, which runs by the simulator's clock from here on. */
export const settle = async (simulator: Simulator, upstream: Upstream): Promise<Living> => {
  const { home, deployments, hooks, lease: name } = upstream;
  const led: number[] = [];
  // Two upstreams may share a namespace.
  if (simulator.handle({ method: "GET", path: `/api/v1/namespaces/${home}`, headers: {} }).status === 404)
    await make(simulator, { apiVersion: "v1", kind: "Namespace", metadata: { name: home } });
  await make(simulator, ...deployments.map((one) => workload(home, one)));
  if (name !== false) await make(simulator, renewed(simulator, name, home));
  await make(simulator, ...hooks);
  live(simulator, upstream, led);
  pass(simulator, 5);
  return { led };
};

const kept = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.unknown().optional(),
  data: z
    .record(z.string(), z.string())
    .transform((data): unknown => Object.values(data).map((text) => (text.startsWith("{") ? JSON.parse(text) : text)))
    .optional(),
  webhooks: z.unknown().optional(),
});

const keptList = z.object({ items: z.array(kept) });

/**
 * Returns the objects that a migration may change, without resource versions and the like: two equal results mean that
 * nothing was lost.
 */
export const pictureOf = ({ handle }: Simulator): unknown => {
  const list = (path: string): unknown => {
    const { items } = keptList.parse(JSON.parse(handle({ method: "GET", path, headers: {} }).body));
    return items.map(({ metadata: { name, labels }, spec, webhooks, data }) => ({
      name,
      labels,
      spec,
      webhooks,
      data,
    }));
  };
  const hooks = "/apis/admissionregistration.k8s.io/v1";
  return {
    deployments: list("/apis/apps/v1/deployments"),
    mutating: list(`${hooks}/mutatingwebhookconfigurations`),
    validating: list(`${hooks}/validatingwebhookconfigurations`),
    records: list("/api/v1/configmaps?labelSelector=rekindle.dev/migration"),
  };
};

const leaseList = z.object({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({ name: z.string() }),
      spec: z.looseObject({ holderIdentity: z.string().default("") }),
    }),
  ),
});

/** Returns the holders of all leases, by the lease's name. */
export const holders = ({ handle }: Simulator): Readonly<Record<string, string>> => {
  const path = "/apis/coordination.k8s.io/v1/leases";
  const { items } = leaseList.parse(JSON.parse(handle({ method: "GET", path, headers: {} }).body));
  return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.holderIdentity]));
};
