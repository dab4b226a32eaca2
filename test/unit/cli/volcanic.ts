/**
 * Volcano as its manifests install it: controllers, webhook server, a scheduler that places pods, and nine webhook
 * configurations.
 */
import type { Simulator } from "../../../shared/simulator/open.ts";
import { make } from "./terminal.ts";
import { type Deployed, hook, type Living, pass, renewed, settle, workload } from "./upstreams.ts";

export const home = "volcano-system";

const service = { name: "volcano-admission-service", namespace: home };

const kinds: Readonly<Record<string, string>> = {
  jobs: "batch.volcano.sh",
  cronjobs: "batch.volcano.sh",
  queues: "scheduling.volcano.sh",
  podgroups: "scheduling.volcano.sh",
  pods: "",
  jobflows: "flow.volcano.sh",
};

const paths = [
  ...["jobs/mutate", "podgroups/mutate", "pods/mutate", "queues/mutate"],
  ...["cronjobs/validate", "jobflows/validate", "jobs/validate", "pods/validate", "queues/validate"],
];

/** Each path has a configuration of its own. */
const hooks = paths.map((path) => {
  const [resource = "", act] = path.split("/");
  return hook({
    kind: act === "mutate" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration",
    name: `volcano-admission-service-${resource}-${act}`,
    service,
    rules: { [`/${path}`]: { group: kinds[resource] ?? "", resource } },
  });
});

export const hookNames: readonly string[] = hooks.map(({ metadata }) => metadata.name);

/** Flags as the manifests give them. */
export const flags = [
  "--logtostderr",
  "--enable-healthz=true",
  "--enable-metrics=true",
  "--leader-elect=false",
  "-v=4",
];

/** Resource groups as `volcano-admission.conf` holds them. */
export const byNamespace = `resourceGroups:
- resourceGroup: management
  object:
    key: namespace
    value: [mng-ns-1, mng-ns-2]
  schedulerName: default-scheduler
  labels: { volcano.sh/nodetype: management }
  tolerations: [{ effect: NoSchedule, key: taint, operator: Exists }]
`;

export const byAnnotation = `resourceGroups:
- resourceGroup: gpu
  affinity: '{"nodeAffinity": {}}'
`;

type Options = {
  readonly flags?: readonly string[];
  readonly lease?: string | false;
  /** Flags of the webhook server. */
  readonly webhook?: readonly string[];
  /** The text of `volcano-admission.conf`, which its pods mount; false: no ConfigMap holds it. */
  readonly configuration?: string | false;
  /** The state of its scheduler: it renews its lease, elects no leader, has no pod, or is not installed. */
  readonly scheduler?: "renews" | "leaderless" | "podless" | "none";
};

/** Flags of the webhook server as the manifests give them. */
export const webhookFlags = [
  "--port=8443",
  "--admission-conf=/admission.local.config/configmap/volcano-admission.conf",
];

const configMap = "volcano-admission-configmap";

const image = (name: string): string => `docker.io/volcanosh/${name}:v1.12.1`;

const schedulerOf = (leads: boolean): Deployed => ({
  ...{ name: "volcano-scheduler", replicas: 1, image: image("vc-scheduler") },
  args: [`--leader-elect=${leads}`],
});

/** Installs Volcano, which runs by the simulator's clock from here on. */
export const install = async (simulator: Simulator, options: Options = {}): Promise<Living> => {
  const { lease = "vc-controller-manager", flags: given = flags, scheduler = "renews" } = options;
  const { webhook = webhookFlags, configuration = "#resourceGroups:\n#- resourceGroup: management\n" } = options;
  const mounted = configuration === false ? {} : { configMaps: [configMap] };
  const deployments = [
    { name: "volcano-admission", replicas: 1, image: image("vc-webhook-manager"), args: webhook, ...mounted },
    { name: "volcano-controllers", replicas: 1, image: image("vc-controller-manager"), args: [...given, "2>&1"] },
    ...(scheduler === "none" || scheduler === "podless" ? [] : [schedulerOf(scheduler === "renews")]),
  ];
  const living = await settle(simulator, { home, deployments, hooks, lease, leader: "volcano-controllers" });
  if (configuration !== false)
    await make(simulator, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: configMap, namespace: home },
      data: { "volcano-admission.conf": configuration },
    });
  if (scheduler === "podless") await make(simulator, workload(home, schedulerOf(false)));
  if (scheduler === "renews") {
    await make(simulator, renewed(simulator, "vc-scheduler", home));
    const path = `/apis/coordination.k8s.io/v1/namespaces/${home}/leases/vc-scheduler`;
    const headers = { "content-type": "application/merge-patch+json" };
    simulator.clock.onTurn((now) => {
      const spec = { renewTime: new Date(now).toISOString().replace("Z", "000Z") };
      simulator.handle({ method: "PATCH", path, headers, body: JSON.stringify({ spec }) });
    });
    pass(simulator, 1);
  }
  return living;
};
