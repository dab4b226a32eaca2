/**
 * Kubeflow's operator as its chart installs it, beside a webhook configuration of another owner that uses the same
 * paths.
 */
import type { Obj } from "../../../shared/core/object.ts";
import type { Simulator } from "../../../shared/simulator/open.ts";
import { hook, type Living, settle } from "./upstreams.ts";

export const home = "spark-operator";

const image = "ghcr.io/kubeflow/spark-operator/controller:2.5.2";
const service = { name: "spark-operator-webhook-svc", namespace: home };
const pods = { group: "", resource: "pods" };
const applications = { group: "sparkoperator.k8s.io", resource: "sparkapplications" };
const v1beta2 = "sparkoperator-k8s-io-v1beta2-sparkapplication";

/** A configuration of another owner with the same kinds and paths: a migration must not change it. */
const stranger: Obj = hook({
  kind: "MutatingWebhookConfiguration",
  name: "kueue",
  service: { name: "kueue-svc", namespace: "kueue-system" },
  rules: { [`/mutate-${v1beta2}`]: applications, "/mutate-batch-v1-job": { group: "batch", resource: "jobs" } },
});

const hooks = [
  hook({
    kind: "MutatingWebhookConfiguration",
    name: "spark-operator-webhook",
    service,
    rules: { "/mutate--v1-pod": pods, [`/mutate-${v1beta2}`]: applications },
  }),
  hook({
    kind: "ValidatingWebhookConfiguration",
    name: "spark-operator-webhook",
    service,
    rules: { [`/validate-${v1beta2}`]: applications },
  }),
  stranger,
];

/** Flags as the chart gives them. */
export const flags = ["--namespaces=default", "--leader-election=true", "--leader-election-lock-name=chart-lock"];

type Options = { readonly flags?: readonly string[]; readonly lease?: string | false };

/**
 * Installs the operator, which runs by the simulator's clock from here on. `lease` is the name of its leader's lease;
 * false: it elects no leader.
 */
export const install = (simulator: Simulator, options: Options = {}): Promise<Living> => {
  const { lease = "chart-lock", flags: given = flags } = options;
  const deployments = [
    { name: "spark-operator-controller", replicas: 2, image, args: ["controller", "start", ...given] },
    { name: "spark-operator-webhook", replicas: 1, image, args: ["webhook", "start"] },
  ];
  return settle(simulator, { home, deployments, hooks, lease, leader: "spark-operator-controller" });
};
