/** A kubeflow installation on the simulator: Deployments whose pods come and go, a leader that renews, webhook configurations. */
import * as z from "zod";
import type { Obj } from "../../shared/core/object.ts";
import type { Simulator } from "../../shared/simulator/open.ts";
import { make } from "./terminal.ts";

export const home = "spark-operator";

const namespace: Obj = { apiVersion: "v1", kind: "Namespace", metadata: { name: home } };

const workload = (part: "controller" | "webhook", replicas: number, args: readonly string[]): Obj => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: `spark-operator-${part}`, namespace: home },
  spec: {
    replicas,
    selector: { matchLabels: { app: part } },
    template: {
      metadata: { labels: { app: part } },
      spec: {
        containers: [
          { name: part, image: "ghcr.io/kubeflow/spark-operator/controller:2.5.2", args: [part, "start", ...args] },
        ],
      },
    },
  },
});

const hook = (kind: string, paths: readonly string[], name = "spark-operator-webhook", at = home): Obj => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind,
  metadata: { name, labels: { "app.kubernetes.io/name": "spark-operator" } },
  webhooks: paths.map((path, index) => ({
    name: `hook-${index}.sparkoperator.k8s.io`,
    admissionReviewVersions: ["v1"],
    sideEffects: "NoneOnDryRun",
    failurePolicy: "Fail",
    timeoutSeconds: 10,
    clientConfig: { service: { name: `${name}-svc`, namespace: at, path, port: 9443 }, caBundle: "Zm9v" },
    rules: path.includes("pod")
      ? [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }]
      : [
          {
            apiGroups: ["sparkoperator.k8s.io"],
            apiVersions: ["v1beta2"],
            operations: ["CREATE", "UPDATE"],
            resources: ["sparkapplications"],
          },
        ],
  })),
});

const v1beta2 = "sparkoperator-k8s-io-v1beta2-sparkapplication";

/** Another's, which speaks of the same kinds and paths: nobody but its owner may touch it. */
export const stranger: Obj = hook(
  "MutatingWebhookConfiguration",
  [`/mutate-${v1beta2}`, "/mutate-batch-v1-job"],
  "kueue",
  "kueue-system",
);

/** Flags as the chart gives them. */
export const flags = ["--namespaces=default", "--leader-election=true", "--leader-election-lock-name=chart-lock"];

/** How long pods take to come and to go, ms. */
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

export type Kubeflow = {
  /** Times at which its controller led. */
  readonly led: readonly number[];
};

type Options = { readonly flags?: readonly string[]; readonly lease?: string | false };

const micros = (at: number): string => new Date(at).toISOString().replace("Z", "000Z");

const paths = {
  deployment: (part: string) => `/apis/apps/v1/namespaces/${home}/deployments/spark-operator-${part}`,
  lease: (name: string) => `/apis/coordination.k8s.io/v1/namespaces/${home}/leases/${name}`,
};

/** Lives by the simulator's clock: every turn its pods and its leader do what they do. */
const live = (simulator: Simulator, name: string | false, led: number[]): void => {
  const call = (method: string, path: string, body?: unknown, type = "application/merge-patch+json"): unknown =>
    JSON.parse(simulator.handle({ method, path, headers: { "content-type": type }, body: JSON.stringify(body) }).body);
  const since = new Map<string, number>();
  const pods = (part: string, now: number): number => {
    const found = deployment.safeParse(call("GET", paths.deployment(part)));
    if (!found.success) return 0;
    const { spec, status } = found.data;
    if (spec.replicas === status.replicas) since.delete(part);
    else if (!since.has(part)) since.set(part, now);
    if (now - (since.get(part) ?? now) < podsMs) return status.replicas;
    const next = { replicas: spec.replicas, availableReplicas: spec.replicas, readyReplicas: spec.replicas };
    call("PATCH", `${paths.deployment(part)}/status`, { status: next });
    return spec.replicas;
  };
  const lead = (now: number, which: string): void => {
    const found = lease.safeParse(call("GET", paths.lease(which)));
    const { holderIdentity = "", renewTime = "", leaseDurationSeconds = 0 } = found.data?.spec ?? {};
    const isFree = holderIdentity === "" || Date.parse(renewTime) + leaseDurationSeconds * 1_000 < now;
    if (!found.success || (!isFree && holderIdentity !== "operator-1")) return;
    const spec = { holderIdentity: "operator-1", leaseDurationSeconds: 15, renewTime: micros(now) };
    call("PATCH", paths.lease(which), { spec });
    led.push(now);
  };
  simulator.clock.onTurn((now) => {
    pods("webhook", now);
    const standing = pods("controller", now);
    if (standing > 0 && name !== false) lead(now, name);
  });
};

/** Turns the clock by so many seconds, one after the other. */
export const pass = ({ clock }: Simulator, seconds: number): void => {
  for (let left = seconds; left > 0; left--) clock.advanceTo(clock.now() + 1_000);
};

/** Installs it; it lives from then on. `lease` is the name of its leader's, or false where it elects none. */
export const install = async (simulator: Simulator, options: Options = {}): Promise<Kubeflow> => {
  const { lease: name = "chart-lock", flags: given = flags } = options;
  const led: number[] = [];
  const now = simulator.clock.now();
  await make(simulator, namespace, workload("controller", 2, given), workload("webhook", 1, []));
  if (name !== false) {
    const spec = { holderIdentity: "operator-1", leaseDurationSeconds: 15, renewTime: micros(now) };
    await make(simulator, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name, namespace: home },
      spec,
    });
  }
  await make(
    simulator,
    hook("MutatingWebhookConfiguration", ["/mutate--v1-pod", `/mutate-${v1beta2}`]),
    hook("ValidatingWebhookConfiguration", [`/validate-${v1beta2}`]),
    stranger,
  );
  live(simulator, name, led);
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

/** What a migration may change, without what the server counts: two of these are equal or something was lost. */
export const pictureOf = ({ handle }: Simulator): unknown => {
  const list = (path: string): unknown => {
    const { items } = z
      .object({ items: z.array(kept) })
      .parse(JSON.parse(handle({ method: "GET", path, headers: {} }).body));
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
    records: list(`/api/v1/namespaces/${home}/configmaps?labelSelector=rekindle.dev/migration`),
  };
};

/** Who holds the leases of its namespace, by name. */
export const holders = ({ handle }: Simulator): Readonly<Record<string, string>> => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${home}/leases`;
  const shape = z.object({
    items: z.array(
      z.looseObject({
        metadata: z.looseObject({ name: z.string() }),
        spec: z.looseObject({ holderIdentity: z.string().default("") }),
      }),
    ),
  });
  const { items } = shape.parse(JSON.parse(handle({ method: "GET", path, headers: {} }).body));
  return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.holderIdentity]));
};
