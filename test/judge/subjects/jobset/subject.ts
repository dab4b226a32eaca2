/** JobSet's controller, on Kubernetes' own controller of Jobs; its webhooks are not installed, so objects say what they would add. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { controllerOf } from "../../../real/setup/controllers.ts";
import { ensure } from "../../../real/setup/ensure.ts";
import { freePort } from "../../../support/port.ts";
import { administrator, apply } from "../../accounts.ts";
import { createIn, edit, pathsOf, removeAt, stay, stayOnce, succeed, wait } from "../../steps.ts";
import type { Rows, Scenario, Step, Subject } from "../../subject.ts";
import { isActive, labelOf, listAt, numberAt, textAt } from "../../values.ts";

const group = "jobset.x-k8s.io/v1alpha2";
const set = pathsOf(group, "jobsets", "set");

const pods = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox:1.36" }] } };
const template = {
  spec: { parallelism: 1, completions: 1, completionMode: "Indexed", backoffLimit: 0, template: pods },
};
const usual = { replicas: 1, groupName: "default", template };
const jobOf = (name: string, more: object = {}): object => ({ name, ...usual, ...more });

const create = (jobs: readonly object[], more: object = {}): Step => {
  const network = { enableDNSHostnames: true, publishNotReadyAddresses: true };
  const policies = { successPolicy: { operator: "All" }, startupPolicy: { startupPolicyOrder: "AnyOrder" } };
  const spec = { replicatedJobs: jobs, ...policies, network, ...more };
  return createIn(pathsOf(group, "jobsets"), { apiVersion: group, kind: "JobSet", metadata: { name: "set" }, spec });
};

const attemptOf = (pod: unknown): string => labelOf(pod, "jobset.sigs.k8s.io/restart-attempt");
const jobNameOf = (pod: unknown): string => labelOf(pod, "jobset.sigs.k8s.io/replicatedjob-name");
const fail: Scenario["planOf"] = () => ({ runMs: 800, exit: 1 });
const failFirst: Scenario["planOf"] = (pod, nth) =>
  attemptOf(pod) === "0" && jobNameOf(pod) === "first" ? fail(pod, nth) : { runMs: 2_500, exit: 0 };

const two = [jobOf("first"), jobOf("second")];
const inOrder = [jobOf("first"), jobOf("second", { dependsOn: [{ name: "first", status: "Complete" }] })];
const restarts = { failurePolicy: { maxRestarts: 3 } };

const scenarios: readonly Scenario[] = [
  { name: "complete", object: set, planOf: succeed, steps: [create(two), wait("Succeeded", 2)] },
  { name: "restart", object: set, planOf: failFirst, steps: [create(two, restarts), wait("Succeeded", 2)] },
  { name: "fail", object: set, planOf: fail, steps: [create(two), wait("Failed", 1)] },
  { name: "in-order", object: set, planOf: succeed, steps: [create(inOrder), wait("Succeeded", 2)] },
  {
    ...{ name: "suspend", object: set, planOf: stayOnce },
    steps: [
      ...[create(two), wait("Running", 2), edit("suspend", set, { spec: { suspend: true } }), wait("Failed", 2)],
      ...[edit("resume", set, { spec: { suspend: false } }), wait("Succeeded", 2)],
    ],
  },
  { name: "delete", object: set, planOf: stay, steps: [create(two), wait("Running", 2), removeAt("delete", set)] },
];

const stateOf = (object: unknown): string => textAt(object, "status", "terminalState");

const rows: Rows = {
  attemptOf: (pod) => (jobNameOf(pod) === "" ? "" : `the pod of ${jobNameOf(pod)}, attempt ${attemptOf(pod)}`),
  endOf: (object) =>
    object === undefined ? "gone" : `${stateOf(object)}, restarts ${numberAt(object, "status", "restarts")}`,
  isFinal: (object) => stateOf(object) !== "",
  untrue: (object, { pods: all }) => {
    const active = [...all.values()].filter(({ pod, isGone }) => !isGone && isActive(pod)).length;
    const counts = listAt(object, "status", "replicatedJobsStatus").map((one) => numberAt(one, "active"));
    const says = counts.reduce((sum, count) => sum + count, 0);
    return says === active ? [] : [`replicatedJobsStatus counts ${says} active jobs, and ${active} pods are active`];
  },
  leftovers: ["apis/jobset.x-k8s.io/v1alpha2/*/jobsets", "apis/batch/v1/*/jobs"],
};

const { version, dir, definitions } = controllerOf("jobset");

/** The program serves webhooks that nobody calls, and does not start without a certificate for them. */
const configure = async (to: string, pki: string): Promise<void> => {
  mkdirSync(to);
  for (const end of ["crt", "key"]) copyFileSync(join(pki, `apiserver.${end}`), join(to, `tls.${end}`));
  const config = {
    ...{ apiVersion: "config.jobset.x-k8s.io/v1alpha1", kind: "Configuration" },
    ...{ leaderElection: { leaderElect: false }, internalCertManagement: { enable: false } },
    webhook: { port: await freePort(), host: "127.0.0.1", certDir: to },
    ...{ metrics: { bindAddress: "0" }, health: { healthProbeBindAddress: "0" } },
  };
  writeFileSync(join(to, "config.json"), JSON.stringify(config));
};

export const jobset: Subject = {
  ...{ name: "jobset", version: async () => version, rows, scenarios },
  install: async (plane) => {
    await ensure(["jobset"]);
    await configure(join(plane.dir, "jobset"), join(plane.dir, "pki"));
    await apply(plane, await definitions());
    return await administrator(plane, "jobset");
  },
  program: (kubeconfigOf) => {
    const kubeconfig = kubeconfigOf("jobset");
    const config = join(dirname(kubeconfig), "jobset", "config.json");
    return { command: [join(dir, "jobset"), "--config", config, "--kubeconfig", kubeconfig] };
  },
};
