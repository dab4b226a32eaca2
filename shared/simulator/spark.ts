/**
 * Spark as scripted pods: a pod labelled as driver becomes a driver that creates, replaces and dismisses executors as
 * Spark 4 on Kubernetes does.
 */
import { commandScript } from "./commands.ts";
import {
  allocate,
  boot,
  clean,
  dismiss,
  driverOf,
  filesOf,
  finish,
  hurry,
  isDriver,
  isExecutor,
  labelOf,
  retire,
  stopMs,
  taskOf,
} from "./drivers.ts";
import { type Kubelets, onMachine } from "./kubelet.ts";
import { isUp, mainExit } from "./lifecycle.ts";
import { connect, hearExecutor, reap } from "./losses.ts";
import type { Memory } from "./memory.ts";
import type { Item } from "./metadata.ts";
import { later, type Part } from "./part.ts";
import { type PodScript, type Scripts, scriptFor } from "./script.ts";
import type { Change } from "./store.ts";

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

const born = (memory: Memory, scripts: Scripts, pod: Item): void => {
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
    script: scriptFor(scripts, app, attempt, pod),
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

const hearDriver = ({ server, memory }: Kubelets, scripts: Scripts, change: Change): void => {
  if (change.type === "ADDED") born(memory, scripts, change.object);
  const driver = memory.driver(change.object.metadata.uid);
  if (driver === undefined) return;
  if (wentDown(change)) {
    if (!driver.ended) dismiss(server, driver, stopMs, 1);
    memory.remember({ ...driver, ended: true });
  } else if (cameUp(change)) {
    memory.remember({ ...driver, ...filesOf(server.store, change.object) });
    later(server, driver.script.bootMs ?? bootMs, taskOf("spark.boot", driver));
  }
};

export const spark = (kubelets: Kubelets, scripts: Scripts): Part => ({
  onChange: (change) => {
    if (change.table !== "pods") return;
    if (isDriver(change.object)) hearDriver(kubelets, scripts, change);
    else if (isExecutor(change.object)) hearExecutor(kubelets, change);
  },
  tasks: {
    "spark.boot": (task) => onMachine(kubelets, task, (pod) => boot(kubelets, pod)),
    "spark.allocate": (task) => onMachine(kubelets, task, (pod) => allocate(kubelets, pod)),
    "spark.finish": (task) => onMachine(kubelets, task, (pod) => finish(kubelets, pod)),
    "spark.clean": (task) => onMachine(kubelets, task, (pod) => clean(kubelets, pod)),
    "spark.connect": (task) => onMachine(kubelets, task, (pod) => connect(kubelets, pod)),
    "spark.hurry": (task) => onMachine(kubelets, task, (pod) => hurry(kubelets, pod)),
    "spark.retire": (task) => onMachine(kubelets, task, (pod) => retire(kubelets, pod)),
    "spark.reap": (task) => reap(kubelets, task),
  },
});
