/** Kubernetes' own controllers of Jobs: another kube-controller-manager, to which the control plane's own leaves them. */
import { controlPlaneFiles } from "../../../real/setup/go.ts";
import { command } from "../../../real/setup/part.ts";
import { administrator } from "../../accounts.ts";
import { createIn, edit, pathsOf, stayOnce, succeed, wait } from "../../steps.ts";
import type { Rows, Scenario, Step, Subject } from "../../subject.ts";
import { isActive, labelOf, listAt, nameOf, numberAt, textAt } from "../../values.ts";
import type { History } from "../../world.ts";

const jobs = pathsOf("batch/v1", "jobs");
const job = pathsOf("batch/v1", "jobs", "job");

const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox:1.36" }] } };
const indexed = { completionMode: "Indexed", completions: 2, parallelism: 2, template };

const create = (more: object = {}): Step =>
  createIn(jobs, { apiVersion: "batch/v1", kind: "Job", metadata: { name: "job" }, spec: { ...indexed, ...more } });

const failOnce: Scenario["planOf"] = (_pod, nth) => ({ runMs: 1_000, exit: nth === 1 ? 1 : 0 });
const fail: Scenario["planOf"] = () => ({ runMs: 800, exit: 1 });

const scenarios: readonly Scenario[] = [
  { name: "complete", object: job, planOf: succeed, steps: [create(), wait("Succeeded", 2)] },
  { name: "retry", object: job, planOf: failOnce, steps: [create({ backoffLimit: 4 }), wait("Succeeded", 2)] },
  { name: "fail", object: job, planOf: fail, steps: [create({ backoffLimit: 0 }), wait("Failed", 2)] },
  {
    ...{ name: "suspend", object: job, planOf: stayOnce },
    steps: [
      ...[create(), wait("Running", 2), edit("suspend", job, { spec: { suspend: true } }), wait("Failed", 2)],
      ...[edit("resume", job, { spec: { suspend: false } }), wait("Succeeded", 2)],
    ],
  },
  { name: "ttl", object: job, planOf: succeed, steps: [create({ ttlSecondsAfterFinished: 3 }), wait("Succeeded", 2)] },
];

const conditionOf = (object: unknown): string =>
  listAt(object, "status", "conditions")
    .filter((one) => textAt(one, "status") === "True" && ["Complete", "Failed"].includes(textAt(one, "type")))
    .map((one) => textAt(one, "type"))
    .join("+");

const here = ({ pods }: History): readonly unknown[] =>
  [...pods.values()].filter(({ isGone }) => !isGone).map(({ pod }) => pod);

const rows: Rows = {
  attemptOf: (pod) => {
    const index = labelOf(pod, "batch.kubernetes.io/job-completion-index");
    return index === "" ? "" : `index ${index} of ${labelOf(pod, "batch.kubernetes.io/job-name")}`;
  },
  endOf: (object) =>
    object === undefined
      ? "gone"
      : `${conditionOf(object)}, succeeded ${numberAt(object, "status", "succeeded")}, failed ${numberAt(object, "status", "failed")}`,
  isFinal: (object) => conditionOf(object) !== "",
  untrue: (object, history) => {
    const active = here(history).filter(isActive).length;
    const held = here(history).filter((pod) => listAt(pod, "metadata", "finalizers").length > 0);
    const says = numberAt(object, "status", "active");
    return [
      ...(says === active ? [] : [`status.active is ${says}, and ${active} pods are active`]),
      ...(conditionOf(object) === "" ? [] : held.map((pod) => `finished, and ${nameOf(pod)} keeps its finalizer`)),
    ];
  },
  leftovers: ["apis/batch/v1/*/jobs"],
};

const controllers = ["job-controller", "ttl-after-finished-controller"] as const;

const kubernetesOf = (): Subject => {
  let binary = "";
  return {
    name: "kubernetes",
    planeFlags: { "kube-controller-manager": [`--controllers=*,${controllers.map((name) => `-${name}`).join(",")}`] },
    install: async (plane) => {
      ({ binary } = await controlPlaneFiles());
      return await administrator(plane, "kubernetes");
    },
    program: (kubeconfigOf) => ({
      command: [
        ...[binary, "kube-controller-manager", "--kubeconfig", kubeconfigOf("kubernetes")],
        ...["--leader-elect=false", "--secure-port=0", `--controllers=${controllers.join(",")}`],
      ],
    }),
    version: async () => (await command(binary, ["version"])).trim(),
    rows,
    scenarios,
  };
};

export const kubernetes: Subject = kubernetesOf();
