/** Recognizes the Deployments and pods that seem to run the controller of an upstream, and outlines them. Pure. */
import type { Obj, Stored } from "../core/object.ts";
import type { Projection } from "../core/plan.ts";
import { type Account, accountIn } from "./accounts.ts";
import { isReady, labelOf } from "./pods.ts";
import { at, partBy, partOf, type Upstream } from "./upstream-controllers.ts";

const componentLabel = "app.kubernetes.io/component";

/** True for a pod, found by its labels, that is not known to run other parts only. */
const isController = (upstream: Upstream, pod: Stored): boolean => {
  const containers = at(pod, "spec", "containers");
  const parts = (Array.isArray(containers) ? containers : []).flatMap((one) => partBy(upstream, one) ?? []);
  const isOther = parts.length > 0 && !parts.includes("controller");
  return !isOther && labelOf(pod, componentLabel) !== "webhook";
};

const isMeantToRun = (deployment: Obj): boolean => at(deployment, "spec", "replicas") !== 0;

/** A workload that seems to run a controller: anybody can give one its image or its labels. */
export type Workload = {
  readonly kind: "Deployment" | "Pod";
  readonly namespace: string;
  readonly name: string;
  readonly account: Account;
  /** False for a Deployment that is scaled to zero, and for a pod that is not Ready. */
  readonly runs: boolean;
};

const hasLabels = ({ labels }: Upstream, pod: Stored): boolean =>
  Object.entries(labels).every(([name, value]) => labelOf(pod, name) === value);

const workload = (object: Stored, kind: Workload["kind"], podSpec: unknown, runs: boolean): Workload => {
  const { namespace = "", name } = object.metadata;
  return { kind, namespace, name, account: accountIn(namespace, podSpec), runs };
};

/** Returns the workloads that seem to run the controller of an upstream. */
export const workloadsOf = (
  upstream: Upstream,
  seen: { readonly deployments: readonly Stored[]; readonly pods: readonly Stored[] },
): readonly Workload[] => [
  ...seen.deployments
    .filter((one) => partOf(upstream, one)?.part === "controller")
    .map((one) => workload(one, "Deployment", at(one, "spec", "template", "spec"), isMeantToRun(one))),
  ...seen.pods
    .filter((pod) => hasLabels(upstream, pod) && isController(upstream, pod))
    .map((pod) => workload(pod, "Pod", pod.spec, isReady(pod))),
];

/** The most containers of one workload that are kept. */
const mostContainers = 8;
/** The longest name of an image that is kept. */
const longestImage = 1_024;

const containersIn = (upstream: Upstream, podSpec: unknown): readonly unknown[] => {
  const containers = at(podSpec, "containers");
  if (!Array.isArray(containers)) return [];
  const parts = containers.flatMap((one) => {
    const image = String(at(one, "image") ?? "");
    if (image.length > longestImage || partBy(upstream, one) === undefined) return [];
    return [{ image, args: [String(at(one, "args", "0") ?? "").slice(0, longestImage)] }];
  });
  return parts.slice(0, mostContainers);
};

const podSpecOf = (upstream: Upstream, podSpec: unknown) => ({
  serviceAccountName: at(podSpec, "serviceAccountName"),
  containers: containersIn(upstream, podSpec),
});

/** Keeps of the Deployments those of an upstream, in outline: a tenant may have written any number of any size. */
export const outlineOfDeployment =
  (upstream: Upstream): Projection =>
  (object) => {
    if (partOf(upstream, object) === undefined) return undefined;
    const { apiVersion, kind, metadata } = object;
    const { name, namespace = "", uid, resourceVersion } = metadata;
    const template = { spec: podSpecOf(upstream, at(object, "spec", "template", "spec")) };
    const spec = { replicas: at(object, "spec", "replicas"), template };
    return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, spec };
  };

/** Keeps of the pods with the labels of an upstream what tells their account, their part, and whether they are Ready. */
export const outlineOfPod =
  (upstream: Upstream): Projection =>
  (pod) => {
    if (!hasLabels(upstream, pod)) return undefined;
    const { apiVersion, kind, metadata } = pod;
    const { name, namespace = "", uid, resourceVersion } = metadata;
    const component = labelOf(pod, componentLabel);
    const labels = { ...upstream.labels, ...(component === undefined ? {} : { [componentLabel]: component }) };
    const status = isReady(pod) ? { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } : {};
    const spec = podSpecOf(upstream, pod.spec);
    return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion, labels }, spec, status };
  };

const kindText = { Deployment: "as the deployment", Pod: "in the pod" } as const;

/** Returns one line per workload that runs the controller of an upstream. */
export const runningSigns = ({ name: upstream }: Upstream, workloads: readonly Workload[]): readonly string[] =>
  workloads
    .filter(({ runs }) => runs)
    .map(({ kind, namespace, name }) => `${upstream} runs ${kindText[kind]} ${namespace}/${name}`);
