/** The executor pods of a Spark driver: named, labelled and owned as by Spark 4's allocator. */

import type { Driver } from "../nodes/memory.ts";
import { type Fields, fieldsAt, isFields, itemsAt, parsed, textAt, textsAt } from "../storage/json.ts";
import type { Item } from "../storage/metadata.ts";

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
export const configName = ({ uid }: Driver): string => `spark-exec-${uid.replaceAll("-", "").slice(16)}-conf-map`;

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

export const ownerOf = (driver: Driver): Fields => ({
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
export const executorPod = (pod: Item, driver: Driver, id: number): Fields => {
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
