/** Executors as a Spark driver sees them: the first that runs starts the job, lost ones are counted and replaced. */
import type { Task } from "./clock.ts";
import {
  allocateMs,
  dismiss,
  driverOf,
  farewellMs,
  idleMsOf,
  keepsEnded,
  reapMs,
  stopMs,
  taskOf,
  wantedBy,
} from "./drivers.ts";
import { confOf } from "./executors.ts";
import { exitTask, type Kubelets } from "./kubelet.ts";
import { isUp, mainExit } from "./lifecycle.ts";
import type { Driver } from "./memory.ts";
import { type Item, metaOf } from "./metadata.ts";
import { about, discard, later, rewrite, subject } from "./part.ts";
import type { Change } from "./store.ts";

const jobMs = 5000;
/** Time, ms, for which an executor tries to reach its driver before it gives up. */
const connectMs = 3000;

const inactive = (pod: Item): Item => {
  const { uid, resourceVersion } = pod.metadata;
  const labels = { ...pod.metadata.labels, "spark-exec-inactive": "true" };
  return { ...pod, metadata: { ...metaOf({ ...pod.metadata, labels }), uid, resourceVersion } };
};

/** The driver deletes an ended executor, or labels it. */
export const reap = ({ server, memory }: Kubelets, task: Task): void => {
  const executor = subject(server, task);
  const driver = executor === undefined ? undefined : driverOf(memory, executor);
  if (executor === undefined || driver === undefined || driver.ended) return;
  if (keepsEnded(driver)) rewrite(server, "pods", executor, inactive(executor));
  else discard(server, "pods", executor);
};

/** Ends an executor that reaches no driver. */
export const connect = ({ server, memory }: Kubelets, pod: Item): void => {
  const driver = driverOf(memory, pod);
  if (isUp(pod) && (driver?.booted !== true || driver.ended)) later(server, 0, exitTask(pod, { code: 1 }));
};

const mostFailures = (driver: Driver): number =>
  Number(confOf(driver, "spark.executor.maxNumFailures", String(Math.max(3, 2 * wantedBy(driver)))));

const giveUp = ({ server }: Kubelets, driver: Driver): void => {
  const pod = server.store.get("pods", driver.key);
  if (pod === undefined) return;
  dismiss(server, driver, farewellMs, 1);
  later(server, stopMs, exitTask(pod, { code: 11 }));
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
  if (mainExit(executor) !== undefined) later(server, reapMs, about("spark.reap", executor));
  later(server, allocateMs, taskOf("spark.allocate", driver));
};

const isLoss = ({ type, object, before }: Change): boolean => {
  if (before === undefined || mainExit(before) !== undefined) return false;
  return type === "DELETED" || mainExit(object) !== undefined;
};

const startsUp = ({ type, object, before }: Change): boolean =>
  type === "MODIFIED" && isUp(object) && before !== undefined && !isUp(before);

export const hearExecutor = (kubelets: Kubelets, change: Change): void => {
  const { server, memory } = kubelets;
  const { object } = change;
  if (startsUp(change)) later(server, connectMs, about("spark.connect", object));
  const driver = driverOf(memory, object);
  const idleMs = driver === undefined ? undefined : idleMsOf(driver);
  if (startsUp(change) && idleMs !== undefined)
    later(server, (kubelets.scriptOf(object).busyMs ?? 0) + idleMs, about("spark.retire", object));
  if (driver === undefined || !driver.booted || driver.ended) return;
  if (isLoss(change)) lose(kubelets, driver, object);
  else if (startsUp(change) && driver.jobSince === undefined) {
    memory.remember({ ...driver, jobSince: server.clock.now() });
    const { hangs, jobMs: lastsMs = jobMs, backlogMs } = driver.script;
    if (hangs !== true) later(server, lastsMs, taskOf("spark.finish", driver));
    if (backlogMs !== undefined) later(server, backlogMs, taskOf("spark.hurry", driver));
  }
};
