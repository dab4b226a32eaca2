/** Scripts of users of Spark applications and their schedules, and the ends of their drivers. */

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

const group = "sparkoperator.k8s.io/v1beta2";
const apps = pathsOf(group, "sparkapplications");
const app = pathsOf(group, "sparkapplications", "app");
const schedule = pathsOf(group, "scheduledsparkapplications", "scheduled");

const specOf = (restartPolicy: object): object => ({
  ...{ type: "Scala", mode: "cluster", sparkVersion: "4.1.1", image: "apache/spark:4.1.1" },
  ...{ mainClass: "org.apache.spark.examples.SparkPi", mainApplicationFile: "local:///opt/spark/examples.jar" },
  restartPolicy,
  driver: { cores: 1, memory: "512m", serviceAccount: "default" },
  executor: { instances: 1, cores: 1, memory: "512m" },
});

const never = { type: "Never" };
const retrying = { type: "OnFailure", onFailureRetries: 3, onFailureRetryInterval: 1 };
const always = { type: "Always", onFailureRetryInterval: 1 };

const create = (restartPolicy: object, more: object = {}): Step =>
  createIn(apps, {
    ...{ apiVersion: group, kind: "SparkApplication", metadata: { name: "app" } },
    spec: { ...specOf(restartPolicy), ...more },
  });

const createSchedule = createIn(pathsOf(group, "scheduledsparkapplications"), {
  ...{ apiVersion: group, kind: "ScheduledSparkApplication", metadata: { name: "scheduled" } },
  spec: { schedule: "@every 8s", concurrencyPolicy: "Forbid", template: specOf(never) },
});

/**
 * A driver that is created, deleted and removed while no process has recorded that it saw the pod leaves no trace: its attempt
 * is submitted again, and counts once.
 */
const unseen: NonNullable<Scenario["allowed"]> = ({ pattern }) =>
  /^(POST (pods|services|events)|P(UT|ATCH) (checkpoints|sparkapplications\/status)|pod (Pending|Running)|user evict)$/.test(
    pattern,
  )
    ? ["COMPLETED, attempts 1"]
    : [];

const driver = (namespace: string): string => `api/v1/namespaces/${namespace}/pods/app-driver`;

export const applications: readonly Scenario[] = [
  { name: "spark-complete", object: app, planOf: succeed, steps: [create(never), wait("Succeeded", 1)] },
  { name: "spark-retry", object: app, planOf: failOnce("app"), steps: [create(retrying), wait("Succeeded", 1)] },
  {
    name: "spark-fail",
    object: app,
    planOf: () => ({ runMs: 800, exit: 1 }),
    steps: [create(never), wait("Failed", 1)],
  },
  {
    ...{ name: "spark-delete", object: app, planOf: stay },
    steps: [create(never), wait("Running", 1), removeAt("delete", app)],
  },
  {
    ...{ name: "spark-suspend", object: app, planOf: stayOnce },
    steps: [
      create(never),
      wait("Running", 1),
      edit("suspend", app, { spec: { suspend: true } }),
      wait("Failed", 1),
      edit("resume", app, { spec: { suspend: false } }),
      wait("Succeeded", 1),
    ],
  },
  {
    ...{ name: "spark-edit", object: app, planOf: stayOnce },
    steps: [
      create(never),
      wait("Running", 1),
      edit("edit", app, { spec: { driver: { memory: "600m" } } }),
      wait("Failed", 1),
      wait("Succeeded", 1),
    ],
  },
  {
    ...{ name: "spark-driver-deleted", object: app, planOf: stayOnce },
    steps: [
      create(always),
      wait("Running", 1),
      removeAt("evict", driver),
      wait("Succeeded", 1),
      removeAt("delete", app),
    ],
  },
  {
    ...{ name: "spark-node-lost", object: app, planOf: lostOnce("app-driver", succeed), allowed: unseen },
    steps: [...[create(retrying), wait("Running", 1), ...loseNode(driver), wait("Succeeded", 1)]],
  },
  {
    ...{ name: "spark-ttl", object: app, planOf: succeed },
    steps: [create(never, { timeToLiveSeconds: 3 }), wait("Succeeded", 1)],
  },
  {
    ...{ name: "spark-schedule", object: schedule, planOf: succeed },
    steps: [
      createSchedule,
      wait("Succeeded", 1),
      step("suspend", (user) => user.patch(schedule(user.namespace), { spec: { suspend: true } })),
    ],
  },
];
