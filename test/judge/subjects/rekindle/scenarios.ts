/** Scripts of users of Spark applications and Volcano's jobs, and the ends of their pods. */
import type { PodPlan } from "../../kubelet.ts";
import type { Scenario, Step, User } from "../../subject.ts";
import { nameOf, uidOf } from "../../values.ts";

const appsIn = (namespace: string): string =>
  `apis/sparkoperator.k8s.io/v1beta2/namespaces/${namespace}/sparkapplications`;
const jobsIn = (namespace: string): string => `apis/batch.volcano.sh/v1alpha1/namespaces/${namespace}/jobs`;
const appAt = (namespace: string): string => `${appsIn(namespace)}/app`;
const jobAt = (namespace: string): string => `${jobsIn(namespace)}/job`;

const app = (restartPolicy: object): object => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "app" },
  spec: {
    ...{ type: "Scala", mode: "cluster", sparkVersion: "4.1.1", image: "apache/spark:4.1.1" },
    ...{ mainClass: "org.apache.spark.examples.SparkPi", mainApplicationFile: "local:///opt/spark/examples.jar" },
    restartPolicy,
    driver: { cores: 1, memory: "512m", serviceAccount: "default" },
    executor: { instances: 1, cores: 1, memory: "512m" },
  },
});

const tasks = (replicas: number): readonly object[] => [
  {
    ...{ name: "worker", replicas },
    template: { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "busybox:1.36" }] } },
  },
];

const job = (replicas: number, policies: readonly object[]): object => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name: "job" },
  spec: {
    ...{ minAvailable: 1, maxRetry: 3, schedulerName: "default-scheduler", policies },
    tasks: tasks(replicas),
  },
});

const step = (name: string, does: Step["does"]): Step => ({ name, does });
const createApp = (restartPolicy: object): Step =>
  step("create", (user) => user.create({ path: appsIn(user.namespace), ...app(restartPolicy) }));
const createJob = (replicas: number, ...policies: readonly object[]): Step =>
  step("create", (user) => user.create({ path: jobsIn(user.namespace), ...job(replicas, policies) }));
const wait = (phase: string, count: number): Step =>
  step(`wait for ${count} ${phase}`, (user: User) => user.pods(phase, count));
const command = (action: string): Step =>
  step(action, async ({ namespace, create, get }) => {
    const uid = uidOf(await get(jobAt(namespace)));
    const named = { apiVersion: "bus.volcano.sh/v1alpha1", kind: "Command", metadata: { name: action.toLowerCase() } };
    const target = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "job", uid };
    await create({ path: `apis/bus.volcano.sh/v1alpha1/namespaces/${namespace}/commands`, ...named, action, target });
  });

const succeed: Scenario["planOf"] = () => ({ runMs: 1_500, exit: 0 });
const stay: Scenario["planOf"] = () => ({ exit: 0 });
/** The first pod of its name fails; later ones succeed. */
const failOnce =
  (name: string): Scenario["planOf"] =>
  (pod, nth): PodPlan =>
    nameOf(pod).startsWith(name) && nth === 1 ? { runMs: 800, exit: 1 } : { runMs: 2_000, exit: 0 };

const retrying = { type: "OnFailure", onFailureRetries: 3, onFailureRetryInterval: 1 };
const edit = (name: string, spec: object): Step => step(name, (user) => user.patch(jobAt(user.namespace), { spec }));

export const scenarios: readonly Scenario[] = [
  {
    name: "spark-complete",
    object: appAt,
    planOf: succeed,
    steps: [createApp({ type: "Never" }), wait("Succeeded", 1)],
  },
  { name: "spark-retry", object: appAt, planOf: failOnce("app"), steps: [createApp(retrying), wait("Succeeded", 1)] },
  {
    ...{ name: "spark-delete", object: appAt, planOf: stay },
    steps: [
      createApp({ type: "Never" }),
      wait("Running", 1),
      step("delete", (user) => user.remove(appAt(user.namespace))),
    ],
  },
  { name: "job-complete", object: jobAt, planOf: succeed, steps: [createJob(2), wait("Succeeded", 2)] },
  {
    ...{ name: "job-restart", object: jobAt, planOf: failOnce("job-worker-0") },
    steps: [createJob(2, { event: "PodFailed", action: "RestartJob" }), wait("Succeeded", 2)],
  },
  {
    ...{ name: "job-evict", object: jobAt, planOf: stay },
    steps: [
      createJob(2, { event: "PodEvicted", action: "RestartTask" }),
      wait("Running", 2),
      step("evict", (user) => user.remove(`api/v1/namespaces/${user.namespace}/pods/job-worker-0`)),
      wait("Running", 2),
    ],
  },
  {
    ...{ name: "job-abort", object: jobAt, planOf: stay },
    steps: [createJob(2), wait("Running", 2), command("AbortJob"), wait("Failed", 2)],
  },
  {
    ...{ name: "job-scale", object: jobAt, planOf: stay },
    steps: [
      createJob(2),
      wait("Running", 2),
      edit("down", { minAvailable: 0, tasks: tasks(0) }),
      wait("Failed", 2),
      edit("up", { minAvailable: 1, tasks: tasks(2) }),
      wait("Running", 2),
    ],
  },
];
