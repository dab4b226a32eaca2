/**
 * A running Spark driver: it reads its confs, creates executors, ends its job, and cleans up. Its executor pods are
 * named, labelled and owned as by Spark 4's allocator.
 */

import { make } from "../controllers/initial-objects.ts";
import { fileIn, propertiesOf } from "../controllers/volumes.ts";
import { exitTask, type Kubelets } from "../nodes/kubelet.ts";
import { isOver, isUp, mainExit } from "../nodes/pod-status.ts";
import type { Driver, Memory } from "../nodes/script.ts";
import type { Task } from "../storage/clock.ts";
import { type Fields, fieldsAt, isFields, itemsAt, parsed, textAt, textsAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";
import { Refusal } from "../storage/refusal.ts";
import type { Store } from "../storage/store.ts";
import { discard, runAfter } from "../verbs/remove.ts";
import type { Server } from "../verbs/request.ts";

/** The value of a conf, or its default in Spark. */
export const confOf = ({ conf }: Driver, key: string, otherwise: string): string =>
  Object.hasOwn(conf, key) ? (conf[key] ?? otherwise) : otherwise;

const underPrefix = ({ conf }: Driver, prefix: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(conf)
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => [key.slice(prefix.length), value]),
  );

const units: Readonly<Record<string, number>> = { k: 1 / 1024, m: 1, g: 1024, t: 1024 * 1024 };

const mebibytes = (text: string): number => {
  const [, digits = "1024", unit = "m"] = /^(\d+)([kmgt])?b?$/i.exec(text.trim()) ?? [];
  return Math.ceil(Number(digits) * (units[unit.toLowerCase()] ?? 1));
};

const resourcesOf = (driver: Driver): Fields => {
  const own = mebibytes(confOf(driver, "spark.executor.memory", "1g"));
  const factor = Number(confOf(driver, "spark.executor.memoryOverheadFactor", "0.1"));
  const overhead = confOf(driver, "spark.executor.memoryOverhead", "");
  const memory = `${own + (overhead === "" ? Math.max(384, Math.floor(own * factor)) : mebibytes(overhead))}Mi`;
  const cores = confOf(driver, "spark.executor.cores", "1");
  const limit = confOf(driver, "spark.kubernetes.executor.limit.cores", "");
  return {
    requests: { cpu: confOf(driver, "spark.kubernetes.executor.request.cores", cores), memory },
    limits: { memory, ...(limit !== "" && { cpu: limit }) },
  };
};

/** The prefix of the executors' names: the user's, or the application's name and digits of the driver's UID. */
export const prefixOf = (driver: Driver): string => {
  const app = confOf(driver, "spark.app.name", driver.app)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/-+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");
  const lot = driver.uid.replaceAll("-", "").slice(0, 16);
  return confOf(driver, "spark.kubernetes.executor.podNamePrefix", `${app === "" ? "spark" : app}-${lot}`);
};

/** The ConfigMap that the driver creates for its executors. */
const configName = ({ uid }: Driver): string => `spark-exec-${uid.replaceAll("-", "").slice(16)}-conf-map`;

const templateOf = ({ template }: Driver): Fields => {
  const value = parsed(template);
  return isFields(value) ? value : {};
};

const env = (driver: Driver, id: string): readonly Fields[] => [
  ...Object.entries(underPrefix(driver, "spark.executorEnv.")).map(([name, value]) => ({ name, value })),
  { name: "SPARK_USER", value: "root" },
  {
    name: "SPARK_DRIVER_URL",
    value: `spark://CoarseGrainedScheduler@${confOf(driver, "spark.driver.host", driver.name)}:${confOf(driver, "spark.driver.port", "7078")}`,
  },
  { name: "SPARK_EXECUTOR_CORES", value: confOf(driver, "spark.executor.cores", "1") },
  { name: "SPARK_EXECUTOR_MEMORY", value: `${mebibytes(confOf(driver, "spark.executor.memory", "1g"))}m` },
  { name: "SPARK_APPLICATION_ID", value: driver.appId },
  { name: "SPARK_CONF_DIR", value: "/opt/spark/conf" },
  { name: "SPARK_EXECUTOR_ID", value: id },
  { name: "SPARK_RESOURCE_PROFILE_ID", value: "0" },
  { name: "SPARK_EXECUTOR_POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
];

/** The containers of the template; the one that becomes the executor's is moved to the end. */
const containersOf = (template: Fields, driver: Driver, id: string): readonly Fields[] => {
  const all = itemsAt(template, "spec", "containers").filter(isFields);
  const wanted = confOf(driver, "spark.kubernetes.executor.podTemplateContainerName", "");
  const chosen = all.find((each) => textAt(each, "name") === wanted) ?? all[0] ?? {};
  const image = confOf(driver, "spark.kubernetes.container.image", "spark");
  const configured = confOf(driver, "spark.kubernetes.executor.disableConfigMap", "false") !== "true";
  const mount = { name: "spark-conf-volume-exec", mountPath: "/opt/spark/conf" };
  return [
    ...all.filter((each) => each !== chosen),
    {
      ...chosen,
      name: textAt(chosen, "name") ?? "spark-kubernetes-executor",
      image: confOf(driver, "spark.kubernetes.executor.container.image", image),
      imagePullPolicy: confOf(driver, "spark.kubernetes.container.image.pullPolicy", "IfNotPresent"),
      args: ["executor"],
      env: [...itemsAt(chosen, "env"), ...env(driver, id)],
      ports: [{ containerPort: 7079, name: "blockmanager" }],
      resources: { ...fieldsAt(chosen, "resources"), ...resourcesOf(driver) },
      volumeMounts: [...itemsAt(chosen, "volumeMounts"), ...(configured ? [mount] : [])],
    },
  ];
};

const volumesOf = (template: Fields, driver: Driver): readonly unknown[] => {
  const configured = confOf(driver, "spark.kubernetes.executor.disableConfigMap", "false") !== "true";
  const own = { name: "spark-conf-volume-exec", configMap: { name: configName(driver) } };
  return [...itemsAt(template, "spec", "volumes"), ...(configured ? [own] : [])];
};

const ownerOf = (driver: Driver): Fields => ({
  apiVersion: "v1",
  kind: "Pod",
  name: driver.name,
  uid: driver.uid,
  controller: true,
});

const labelsOf = (template: Fields, pod: Item, driver: Driver, id: string): Fields => ({
  ...textsAt(template, "metadata", "labels"),
  ...underPrefix(driver, "spark.kubernetes.executor.label."),
  "spark-app-name": pod.metadata.labels?.["spark-app-name"] ?? driver.app,
  "spark-app-selector": driver.appId,
  "spark-exec-id": id,
  "spark-exec-resourceprofile-id": "0",
  "spark-role": "executor",
  ...(pod.metadata.labels?.["spark-version"] !== undefined && {
    "spark-version": pod.metadata.labels["spark-version"],
  }),
});

const accountOf = (driver: Driver): string =>
  confOf(
    driver,
    "spark.kubernetes.authenticate.executor.serviceAccountName",
    confOf(driver, "spark.kubernetes.authenticate.driver.serviceAccountName", ""),
  );

/** The pod of one executor. */
const executorPod = (pod: Item, driver: Driver, id: number): Fields => {
  const template = templateOf(driver);
  const name = `${prefixOf(driver)}-exec-${id}`;
  const annotations = {
    ...textsAt(template, "metadata", "annotations"),
    ...underPrefix(driver, "spark.kubernetes.executor.annotation."),
  };
  const account = accountOf(driver);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: labelsOf(template, pod, driver, String(id)),
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ownerReferences: [...itemsAt(template, "metadata", "ownerReferences"), ownerOf(driver)],
    },
    spec: {
      ...fieldsAt(template, "spec"),
      containers: containersOf(template, driver, String(id)),
      volumes: volumesOf(template, driver),
      hostname: name.slice(-63).replace(/^[^a-z0-9]+/, ""),
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 30,
      ...(account !== "" && { serviceAccountName: account }),
    },
  };
};

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

/** The running driver of a pod. */
export const driverIn = (memory: Memory, pod: Item): Driver | undefined => {
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
  runAfter(server, 0, taskOf("spark.allocate", ready));
};

export const isDynamic = (driver: Driver): boolean => isOn(driver, "spark.dynamicAllocation.enabled");
export const fewest = (driver: Driver): number => Number(confOf(driver, "spark.dynamicAllocation.minExecutors", "0"));

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
  if (missing > most || refused) runAfter(server, allocateMs, taskOf("spark.allocate", driver));
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
  runAfter(server, farewellMs, exitTask(pod, { code: 0 }));
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
  for (const pod of executorsOf(server, driver)) if (isUp(pod)) runAfter(server, delayMs, exitTask(pod, { code }));
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
  runAfter(server, farewellMs + reapMs, taskOf("spark.clean", driver));
  runAfter(server, stopMs, exitTask(pod, { code: driver.script.exitCode ?? 0, reason: driver.script.reason }));
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
