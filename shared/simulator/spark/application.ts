/** Spark as scripted pods: a pod labelled as driver becomes a driver that creates, replaces and dismisses executors as Spark 4 on
 * Kubernetes does. */

import { exitTask, type Kubelets, onMachine } from "../nodes/kubelet.ts";
import { isUp, mainExit } from "../nodes/pod-status.ts";
import {
  argumentScript,
  commandScript,
  type Driver,
  type Memory,
  type PodScript,
  type Scripts,
  scriptFor,
} from "../nodes/script.ts";
import type { Task } from "../storage/clock.ts";
import { type Item, metaOf } from "../storage/metadata.ts";
import type { Change } from "../storage/store.ts";
import { about, discard, type Part, rewrite, runAfter, subject } from "../verbs/remove.ts";
import { beginFollowing, dismissIdle, followsGauge, hearDemand, raise } from "./demand.ts";
import {
  allocate,
  allocateMs,
  boot,
  clean,
  confOf,
  dismiss,
  driverOf,
  farewellMs,
  filesOf,
  finish,
  hurry,
  idleMsOf,
  isDriver,
  isExecutor,
  keepsEnded,
  labelOf,
  reapMs,
  retire,
  stopMs,
  taskOf,
  wantedBy,
} from "./drivers.ts";

const jobMs = 5000;
/** Time, ms, for which an executor tries to reach its driver before it gives up. */
const connectMs = 3000;

const inactive = (pod: Item): Item => {
  const { uid, resourceVersion } = pod.metadata;
  const labels = { ...pod.metadata.labels, "spark-exec-inactive": "true" };
  return { ...pod, metadata: { ...metaOf({ ...pod.metadata, labels }), uid, resourceVersion } };
};

/** The driver deletes an ended executor, or labels it. */
const reap = ({ server, memory }: Kubelets, task: Task): void => {
  const executor = subject(server, task);
  const driver = executor === undefined ? undefined : driverOf(memory, executor);
  if (executor === undefined || driver === undefined || driver.ended) return;
  if (keepsEnded(driver)) rewrite(server, "pods", executor, inactive(executor));
  else discard(server, "pods", executor);
};

/** Ends an executor that reaches no driver. */
const connect = ({ server, memory }: Kubelets, pod: Item): void => {
  const driver = driverOf(memory, pod);
  if (isUp(pod) && (driver?.booted !== true || driver.ended)) runAfter(server, 0, exitTask(pod, { code: 1 }));
};

const mostFailures = (driver: Driver): number =>
  Number(confOf(driver, "spark.executor.maxNumFailures", String(Math.max(3, 2 * wantedBy(driver)))));

const giveUp = ({ server }: Kubelets, driver: Driver): void => {
  const pod = server.store.get("pods", driver.key);
  if (pod === undefined) return;
  dismiss(server, driver, farewellMs, 1);
  runAfter(server, stopMs, exitTask(pod, { code: 11 }));
};

const lose = (kubelets: Kubelets, driver: Driver, executor: Item): void => {
  const { server, memory } = kubelets;
  const failed = (mainExit(executor)?.code ?? 0) !== 0;
  const failures = driver.failures + (failed ? 1 : 0);
  const ended = failures > mostFailures(driver);
  memory.remember({ ...driver, failures, ended });
  if (ended) {
    giveUp(kubelets, driver);
    return;
  }
  if (mainExit(executor) !== undefined) runAfter(server, reapMs, about("spark.reap", executor));
  runAfter(server, allocateMs, taskOf("spark.allocate", driver));
};

const isLoss = ({ type, object, before }: Change): boolean => {
  if (before === undefined || mainExit(before) !== undefined) return false;
  return type === "DELETED" || mainExit(object) !== undefined;
};

const startsUp = ({ type, object, before }: Change): boolean =>
  type === "MODIFIED" && isUp(object) && before !== undefined && !isUp(before);

const hearExecutor = (kubelets: Kubelets, change: Change): void => {
  const { server, memory } = kubelets;
  const { object } = change;
  if (startsUp(change)) runAfter(server, connectMs, about("spark.connect", object));
  const driver = driverOf(memory, object);
  const idleMs = driver === undefined || followsGauge(driver) ? undefined : idleMsOf(driver);
  if (startsUp(change) && idleMs !== undefined)
    runAfter(server, (kubelets.scriptOf(object).busyMs ?? 0) + idleMs, about("spark.retire", object));
  if (driver === undefined || !driver.booted || driver.ended) return;
  if (isLoss(change)) lose(kubelets, driver, object);
  else if (startsUp(change) && driver.jobSince === undefined) {
    memory.remember({ ...driver, jobSince: server.clock.now() });
    const { hangs, jobMs: lastsMs = jobMs, backlogMs } = driver.script;
    if (hangs !== true) runAfter(server, lastsMs, taskOf("spark.finish", driver));
    if (backlogMs !== undefined) runAfter(server, backlogMs, taskOf("spark.hurry", driver));
  }
};

const bootMs = 2000;

const appOf = (pod: Item): string =>
  labelOf(pod, "sparkoperator.k8s.io/app-name") || labelOf(pod, "spark-app-name") || pod.metadata.name;

/** The script of a pod. Pods that are not Spark's follow their own names, or their commands where these are read. */
export const scriptsOf =
  (memory: Memory, scripts: Scripts, readsCommands = false) =>
  (pod: Item): PodScript => {
    if (isDriver(pod)) return memory.driver(pod.metadata.uid)?.script ?? {};
    const driver = isExecutor(pod) ? driverOf(memory, pod) : undefined;
    if (driver === undefined)
      return (readsCommands ? commandScript(pod) : undefined) ?? scriptFor(scripts, pod.metadata.name, 1, pod);
    const executors = driver.script.executors ?? {};
    return executors[labelOf(pod, "spark-exec-id")] ?? executors["*"] ?? {};
  };

/** Scripts of drivers, and whether arguments of drivers set the durations of their jobs. */
type Course = { readonly scripts: Scripts; readonly readsCommands: boolean };

const born = (memory: Memory, { scripts, readsCommands }: Course, pod: Item): void => {
  const app = appOf(pod);
  const { name, namespace = "", uid } = pod.metadata;
  const attempt = memory.count(namespace, app);
  memory.remember({
    uid,
    key: `${namespace}/${name}`,
    namespace,
    name,
    app,
    appId: labelOf(pod, "spark-app-selector"),
    attempt,
    script: { ...scriptFor(scripts, app, attempt, pod), ...(readsCommands ? argumentScript(pod) : {}) },
    conf: {},
    template: "",
    nextId: 1,
    failures: 0,
    booted: false,
    jobSince: undefined,
    ended: false,
  });
};

const cameUp = ({ object, before }: Change): boolean => isUp(object) && before !== undefined && !isUp(before);

const wentDown = ({ type, object, before }: Change): boolean =>
  type === "DELETED" || (mainExit(object) !== undefined && (before === undefined || mainExit(before) === undefined));

const hearDriver = ({ server, memory }: Kubelets, course: Course, change: Change): void => {
  if (change.type === "ADDED") born(memory, course, change.object);
  const driver = memory.driver(change.object.metadata.uid);
  if (driver === undefined) return;
  if (wentDown(change)) {
    if (!driver.ended) dismiss(server, driver, stopMs, 1);
    memory.remember({ ...driver, ended: true });
  } else if (cameUp(change)) {
    memory.remember({ ...driver, ...filesOf(server.store, change.object) });
    runAfter(server, driver.script.bootMs ?? bootMs, taskOf("spark.boot", driver));
  }
};

export const spark = (kubelets: Kubelets, scripts: Scripts, readsCommands = false): Part => ({
  onChange: (change) => {
    if (change.table !== "pods") return;
    if (isDriver(change.object)) hearDriver(kubelets, { scripts, readsCommands }, change);
    else if (isExecutor(change.object)) hearExecutor(kubelets, change);
  },
  tasks: {
    "spark.boot": (task) =>
      onMachine(kubelets, task, (pod) => {
        boot(kubelets, pod);
        beginFollowing(kubelets, pod);
      }),
    "spark.demand": (task) => onMachine(kubelets, task, (pod) => hearDemand(kubelets, pod)),
    "spark.raise": (task) => onMachine(kubelets, task, (pod) => raise(kubelets, pod)),
    "spark.dismiss": (task) => onMachine(kubelets, task, (pod) => dismissIdle(kubelets, pod)),
    "spark.allocate": (task) => onMachine(kubelets, task, (pod) => allocate(kubelets, pod)),
    "spark.finish": (task) => onMachine(kubelets, task, (pod) => finish(kubelets, pod)),
    "spark.clean": (task) => onMachine(kubelets, task, (pod) => clean(kubelets, pod)),
    "spark.connect": (task) => onMachine(kubelets, task, (pod) => connect(kubelets, pod)),
    "spark.hurry": (task) => onMachine(kubelets, task, (pod) => hurry(kubelets, pod)),
    "spark.retire": (task) => onMachine(kubelets, task, (pod) => retire(kubelets, pod)),
    "spark.reap": (task) => reap(kubelets, task),
  },
});
