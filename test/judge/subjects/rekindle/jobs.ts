/** Scripts of users of Volcano's jobs, flows of jobs and schedules of jobs, and the ends of their pods. */

import {
  createIn,
  edit,
  failOnce,
  loseNode,
  lostOnce,
  pathsOf,
  removeAt,
  stay,
  stayOnce,
  step,
  succeed,
  wait,
} from "../../steps.ts";
import type { Scenario, Step } from "../../subject.ts";
import { uidOf } from "../../values.ts";
import { allow, noQuota, quota, refuse } from "./refusals.ts";

const batch = "batch.volcano.sh/v1alpha1";
const flows = "flow.volcano.sh/v1alpha1";
const job = pathsOf(batch, "jobs", "job");
const flow = pathsOf(flows, "jobflows", "flow");
const cron = pathsOf(batch, "cronjobs", "cron");

const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox:1.36" }] } };
const tasks = (replicas: number): readonly object[] => [{ name: "worker", replicas, template }];

const specOf = (replicas: number, policies: readonly object[] = []): object => ({
  ...{ minAvailable: 1, maxRetry: 3, schedulerName: "default-scheduler", policies },
  tasks: tasks(replicas),
});

const createOf = (spec: object): Step =>
  createIn(pathsOf(batch, "jobs"), { apiVersion: batch, kind: "Job", metadata: { name: "job" }, spec });
const create = (replicas: number, ...policies: readonly object[]): Step => createOf(specOf(replicas, policies));

const command = (action: string): Step =>
  step(action, async ({ namespace, create: made, get }) => {
    const uid = uidOf(await get(job(namespace)));
    const named = { apiVersion: "bus.volcano.sh/v1alpha1", kind: "Command", metadata: { name: action.toLowerCase() } };
    const target = { apiVersion: batch, kind: "Job", name: "job", uid };
    await made({ path: pathsOf("bus.volcano.sh/v1alpha1", "commands")(namespace), ...named, action, target });
  });

/**
 * A death, or a refusal, between the creation of a pod and the record that names it leaves no trace of the pod: one that
 * is evicted meanwhile is created again, and spends no retry (decision 47).
 */
const unseenAt =
  (points: RegExp): NonNullable<Scenario["allowed"]> =>
  ({ pattern }) =>
    points.test(pattern) ? ["Running, retries 0, active pods 2"] : [];

/** The writes of the step that creates a pod, and the pod's first reports. */
const ofCreation = [
  "POST pods",
  "POST events",
  "PATCH podgroups",
  "PATCH jobs",
  "[A-Z]+ checkpoints",
  "pod (Pending|Running)",
];
const atCreation = new RegExp(`^(${ofCreation.join("|")})$`);
const atBirth = new RegExp(`^(${[...ofCreation, "user evict"].join("|")})$`);

const worker = (namespace: string): string => `api/v1/namespaces/${namespace}/pods/job-worker-0`;
const evict: Step = removeAt("evict", worker);
const scale = (name: string, replicas: number): Step =>
  edit(name, job, { spec: { minAvailable: Math.min(1, replicas), tasks: tasks(replicas) } });

const templates = ["first", "second"] as const;

const createFlow = step("create", async ({ namespace, create: made }) => {
  for (const name of templates)
    await made({
      path: pathsOf(flows, "jobtemplates")(namespace),
      ...{ apiVersion: flows, kind: "JobTemplate", metadata: { name }, spec: specOf(1) },
    });
  const second = { name: "second", dependsOn: { targets: ["first"] } };
  await made({
    path: pathsOf(flows, "jobflows")(namespace),
    ...{ apiVersion: flows, kind: "JobFlow", metadata: { name: "flow" } },
    spec: { jobRetainPolicy: "retain", flows: [{ name: "first" }, second] },
  });
});

const createCron = createIn(pathsOf(batch, "cronjobs"), {
  ...{ apiVersion: batch, kind: "CronJob", metadata: { name: "cron" } },
  spec: { schedule: "@every 8s", concurrencyPolicy: "Forbid", jobTemplate: { spec: specOf(1) } },
});

const after = (first: string): object => ({
  ...specOf(1),
  minAvailable: 2,
  tasks: [
    { name: first, replicas: 1, template },
    { name: "worker", replicas: 1, template, dependsOn: { name: [first] } },
  ],
});

export const jobs: readonly Scenario[] = [
  { name: "job-complete", object: job, planOf: succeed, steps: [create(2), wait("Succeeded", 2)] },
  {
    ...{ name: "job-restart", object: job, planOf: failOnce("job-worker-0") },
    steps: [create(2, { event: "PodFailed", action: "RestartJob" }), wait("Succeeded", 2)],
  },
  {
    ...{ name: "job-fail", object: job, planOf: () => ({ runMs: 800, exit: 3 }) },
    steps: [create(1, { exitCode: 3, action: "RestartJob" }), wait("Failed", 4)],
  },
  {
    ...{ name: "job-evict", object: job, planOf: stay, allowed: unseenAt(atCreation) },
    steps: [create(2, { event: "PodEvicted", action: "RestartTask" }), wait("Running", 2), evict, wait("Running", 2)],
  },
  {
    ...{ name: "job-node-lost", object: job, planOf: lostOnce("job-worker-0", stay), allowed: unseenAt(atCreation) },
    steps: [
      ...[create(2, { event: "PodEvicted", action: "RestartTask" }), wait("Running", 2), ...loseNode(worker)],
      wait("Running", 3),
    ],
  },
  {
    ...{ name: "job-evict-at-birth", object: job, planOf: stay, allowed: unseenAt(atBirth) },
    steps: [create(2, { event: "PodEvicted", action: "RestartTask" }), wait("Pending", 1), evict, wait("Running", 2)],
  },
  {
    ...{ name: "job-abort", object: job, planOf: stay },
    steps: [create(2), wait("Running", 2), command("AbortJob"), wait("Failed", 2)],
  },
  {
    ...{ name: "job-resume", object: job, planOf: stayOnce },
    steps: [
      create(2),
      wait("Running", 2),
      command("AbortJob"),
      wait("Failed", 2),
      command("ResumeJob"),
      wait("Succeeded", 2),
    ],
  },
  {
    ...{ name: "job-terminate", object: job, planOf: stay },
    steps: [create(2), wait("Running", 2), command("TerminateJob"), wait("Failed", 2)],
  },
  {
    ...{ name: "job-scale", object: job, planOf: stay },
    steps: [create(2), wait("Running", 2), scale("down", 0), wait("Failed", 2), scale("up", 2), wait("Running", 2)],
  },
  {
    ...{ name: "job-delete", object: job, planOf: stay },
    steps: [create(2), wait("Running", 2), removeAt("delete", job)],
  },
  {
    ...{ name: "job-ttl", object: job, planOf: succeed },
    steps: [createOf({ ...specOf(2), ttlSecondsAfterFinished: 3 }), wait("Succeeded", 2)],
  },
  { name: "job-depends", object: job, planOf: stay, steps: [createOf(after("master")), wait("Running", 2)] },
  {
    ...{ name: "job-quota", object: job, planOf: stay },
    steps: [quota(1), create(2), wait("Running", 1), noQuota, wait("Running", 2)],
  },
  {
    ...{ name: "job-refused", object: job, planOf: stay },
    steps: [refuse, create(2), wait("Running", 1), allow, wait("Running", 2)],
  },
  {
    ...{ name: "job-gang", object: job, planOf: succeed },
    steps: [createOf({ ...specOf(3), minAvailable: 3 }), wait("Succeeded", 3)],
  },
  {
    ...{ name: "flow", object: flow, planOf: succeed },
    beside: (namespace) => templates.map((name) => pathsOf(flows, "jobtemplates", name)(namespace)),
    steps: [createFlow, wait("Succeeded", 2)],
  },
  {
    ...{ name: "cron", object: cron, planOf: succeed },
    steps: [createCron, wait("Succeeded", 1), edit("suspend", cron, { spec: { suspend: true } })],
  },
];
