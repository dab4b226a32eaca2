/** A running Spark driver: it reads its confs, creates executors, ends its job, and cleans up. */

import { make } from "../controllers/initial-objects.ts";
import { fileIn, propertiesOf } from "../controllers/volumes.ts";
import { exitTask, type Kubelets } from "../nodes/kubelet.ts";
import type { Driver, Memory } from "../nodes/memory.ts";
import { isOver, isUp, mainExit } from "../nodes/pod-status.ts";
import type { Task } from "../storage/clock.ts";
import type { Item } from "../storage/metadata.ts";
import { Refusal } from "../storage/refusal.ts";
import type { Store } from "../storage/store.ts";
import { discard, later } from "../verbs/remove.ts";
import type { Server } from "../verbs/request.ts";
import { configName, confOf, executorPod, ownerOf } from "./executors.ts";

export const allocateMs = 1000;
export const reapMs = 90;
export const farewellMs = 200;
export const stopMs = 1000;
const batch = 10;

export const labelOf = (item: Item, key: string): string => item.metadata.labels?.[key] ?? "";
export const isDriver = (item: Item): boolean => labelOf(item, "spark-role") === "driver";
export const isExecutor = (item: Item): boolean => labelOf(item, "spark-role") === "executor";

/** The newest driver of an executor's application. */
export const driverOf = (memory: Memory, executor: Item): Driver | undefined =>
  memory.newest(executor.metadata.namespace ?? "", labelOf(executor, "spark-app-selector"));

const driverIn = (memory: Memory, pod: Item): Driver | undefined => {
  const driver = memory.driver(pod.metadata.uid);
  return driver?.ended === true || !isUp(pod) ? undefined : driver;
};

export const taskOf = (name: string, { key, uid }: Driver): Task => ({ do: name, key, uid });

const ofApp = ({ store }: Server, table: string, { appId, namespace }: Driver): readonly Item[] =>
  store
    .list(table)
    .filter((item) => item.metadata.namespace === namespace && labelOf(item, "spark-app-selector") === appId);

export const executorsOf = (server: Server, driver: Driver): readonly Item[] =>
  ofApp(server, "pods", driver).filter(isExecutor);

const isOn = (driver: Driver, key: string): boolean => confOf(driver, key, "false") === "true";

/** Whether ended executors stay, labelled, instead of being deleted. */
export const keepsEnded = (driver: Driver): boolean =>
  confOf(driver, "spark.kubernetes.executor.deleteOnTermination", "true") === "false";

/** Creates an object for a driver. Returns false for a refusal: the next round tries again. */
const makes = (server: Server, table: string, { namespace }: Driver, body: unknown): boolean => {
  try {
    make(server, table, namespace, body);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
};

/** The files that a driver's container reads at its start. */
export const filesOf = (store: Store, pod: Item): Pick<Driver, "conf" | "template"> => {
  const conf = propertiesOf(fileIn(store, pod, "/opt/spark/conf/spark.properties") ?? "");
  const path = conf["spark.kubernetes.executor.podTemplateFile"] ?? "";
  return { conf, template: path === "" ? "" : (fileIn(store, pod, path) ?? "") };
};

/** Starts the driver's context. */
export const boot = ({ server, memory }: Kubelets, pod: Item): void => {
  const driver = driverIn(memory, pod);
  if (driver === undefined) return;
  const ready = memory.remember({ ...driver, booted: true });
  const metadata = {
    name: configName(ready),
    labels: { "spark-app-selector": ready.appId, "spark-role": "executor" },
    ownerReferences: [ownerOf(ready)],
  };
  const data = { "spark.kubernetes.namespace": ready.namespace, "spark.properties": "" };
  if (!isOn(ready, "spark.kubernetes.executor.disableConfigMap"))
    makes(server, "configmaps", ready, { metadata, immutable: true, data });
  later(server, 0, taskOf("spark.allocate", ready));
};

const isDynamic = (driver: Driver): boolean => isOn(driver, "spark.dynamicAllocation.enabled");
const fewest = (driver: Driver): number => Number(confOf(driver, "spark.dynamicAllocation.minExecutors", "0"));

/** The number of executors that the driver wants. */
export const wantedBy = (driver: Driver): number => {
  if (!isDynamic(driver)) return Number(confOf(driver, "spark.executor.instances", "2"));
  if (driver.wanted !== undefined) return driver.wanted;
  const least = fewest(driver);
  const initial = confOf(driver, "spark.dynamicAllocation.initialExecutors", String(least));
  return Math.max(least, Number(initial), Number(confOf(driver, "spark.executor.instances", "0")));
};

const isActive = (pod: Item): boolean =>
  labelOf(pod, "spark-exec-inactive") !== "true" && mainExit(pod) === undefined && !isOver(pod);

/** One round of the allocator. */
export const allocate = ({ server, memory }: Kubelets, pod: Item): void => {
  const driver = driverIn(memory, pod);
  if (driver?.booted !== true) return;
  const missing = wantedBy(driver) - executorsOf(server, driver).filter(isActive).length;
  const most = Number(confOf(driver, "spark.kubernetes.allocation.batch.size", String(batch)));
  let { nextId } = driver;
  let refused = false;
  for (let left = Math.min(most, missing); left > 0 && !refused; left -= 1, nextId += 1)
    refused = !makes(server, "pods", driver, executorPod(pod, driver, nextId));
  memory.remember({ ...driver, nextId });
  if (missing > most || refused) later(server, allocateMs, taskOf("spark.allocate", driver));
};

/** The time, ms, after which an idle executor is dismissed; undefined where none is. */
export const idleMsOf = (driver: Driver): number | undefined =>
  isDynamic(driver) && wantedBy(driver) > fewest(driver)
    ? Number.parseInt(confOf(driver, "spark.dynamicAllocation.executorIdleTimeout", "60s"), 10) * 1_000
    : undefined;

/** Tells an executor to end that has been idle for its timeout, unless too few would be left. */
export const retire = ({ server, memory }: Kubelets, pod: Item): void => {
  const driver = driverOf(memory, pod);
  if (driver === undefined || driver.ended || !isUp(pod)) return;
  const wanted = wantedBy(driver);
  if (wanted <= fewest(driver)) return;
  memory.remember({ ...driver, wanted: wanted - 1 });
  later(server, farewellMs, exitTask(pod, { code: 0 }));
};

/** A backlog of tasks: the driver asks for the maximum of executors. */
export const hurry = (kubelets: Kubelets, pod: Item): void => {
  const driver = driverIn(kubelets.memory, pod);
  if (driver === undefined || !isDynamic(driver)) return;
  const wanted = Number(confOf(driver, "spark.dynamicAllocation.maxExecutors", String(wantedBy(driver))));
  kubelets.memory.remember({ ...driver, wanted });
  allocate(kubelets, pod);
};

/** Tells executors to end: their driver has finished, or is gone. */
export const dismiss = (server: Server, driver: Driver, delayMs: number, code: number): void => {
  for (const pod of executorsOf(server, driver)) if (isUp(pod)) later(server, delayMs, exitTask(pod, { code }));
};

/** Finishes the job. Without a running executor it waits for the next one. */
export const finish = ({ server, memory }: Kubelets, pod: Item): void => {
  const driver = driverIn(memory, pod);
  if (driver === undefined) return;
  if (!executorsOf(server, driver).some(isUp)) {
    memory.remember({ ...driver, jobSince: undefined });
    return;
  }
  memory.remember({ ...driver, ended: true });
  dismiss(server, driver, farewellMs, 0);
  later(server, farewellMs + reapMs, taskOf("spark.clean", driver));
  later(server, stopMs, exitTask(pod, { code: driver.script.exitCode ?? 0, reason: driver.script.reason }));
};

/** Deletes the objects that a stopping context deletes, by label. */
export const clean = ({ server, memory }: Kubelets, pod: Item): void => {
  const driver = memory.driver(pod.metadata.uid);
  if (driver === undefined) return;
  for (const table of ["services", "persistentvolumeclaims"])
    for (const item of ofApp(server, table, driver)) discard(server, table, item);
  if (keepsEnded(driver)) return;
  for (const table of ["pods", "configmaps"])
    for (const item of ofApp(server, table, driver)) if (isExecutor(item)) discard(server, table, item);
};
