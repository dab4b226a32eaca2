/** Compares the objects of Apache's SparkCluster with those that upstream's operator made on a real API server. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { omit } from "../../../../shared/core/json.ts";
import { statesIn, statusOf } from "../../../../shared/spark/cluster/memory.ts";
import { clusterObjects } from "../../../../shared/spark/cluster/objects.ts";
import { readCluster } from "../../../../shared/spark/cluster/read.ts";
import { type Difference, differences, isRecord, type Json } from "../compare.ts";
import { labelOf } from "../golden.ts";

export type Named = { readonly name: string; readonly spec: unknown };

const uid = "490782da-dba4-4429-a75f-0ba394f737b8";

type Made = { readonly objects: readonly Json[] } | { readonly refused: string };

export const clusterFor = ({ name, spec }: Named): Made => {
  const read = readCluster({ metadata: { name }, spec });
  if (!read.ok) return { refused: read.message };
  const cluster = { name, namespace: "default", uid, spec: read.spec, operatorName: "spark-kubernetes-operator" };
  return { objects: clusterObjects(cluster) };
};

/** Fields that the API server gives an object of a kind that is written without them. */
const defaults: Readonly<Record<string, Json>> = {
  Service: {
    ...{ clusterIPs: ["None"], internalTrafficPolicy: "Cluster", ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
    ...{ sessionAffinity: "None", type: "ClusterIP" },
  },
  StatefulSet: {
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
    revisionHistoryLimit: 10,
    serviceName: "",
    updateStrategy: { rollingUpdate: { partition: 0 }, type: "RollingUpdate" },
    template: { spec: { dnsPolicy: "ClusterFirst", restartPolicy: "Always", securityContext: {} } },
  },
  NetworkPolicy: { policyTypes: ["Ingress"] },
  HorizontalPodAutoscaler: {
    behavior: {
      scaleDown: { selectPolicy: "Max" },
      scaleUp: { selectPolicy: "Max", stabilizationWindowSeconds: 0 },
    },
  },
};

const ofContainer: Json = {
  imagePullPolicy: "IfNotPresent",
  resources: {},
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
};

/** The value with these fields where it has none. */
const withDefaults = (value: unknown, given: unknown): unknown => {
  if (value === undefined) return given;
  if (!isRecord(value) || !isRecord(given)) return value;
  return Object.fromEntries(
    [...new Set([...Object.keys(value), ...Object.keys(given)])].map((key) => [
      key,
      withDefaults(value[key], given[key]),
    ]),
  );
};

/** The properties of a JVM as a set of confs: their order has no meaning. */
const optionsIn = (text: string): Json =>
  Object.fromEntries([...text.matchAll(/-D(\S+?)="([^"]*)" /g)].map(([, key, value]) => [`${key}`, value]));

const containerOf = (container: unknown): unknown => {
  const whole = withDefaults(container, ofContainer);
  if (!isRecord(whole)) return whole;
  const env = Array.isArray(whole["env"]) ? whole["env"] : [];
  const ports = Array.isArray(whole["ports"]) ? whole["ports"] : [];
  return {
    ...whole,
    env: env.map((one) =>
      isRecord(one) && /_OPTS$/.test(`${one["name"]}`) ? { ...one, value: optionsIn(`${one["value"]}`) } : one,
    ),
    ports: ports.map((one) => withDefaults(one, { protocol: "TCP" })),
  };
};

const specOf = (kind: string, spec: unknown): unknown => {
  const whole = withDefaults(spec, defaults[kind]);
  if (!isRecord(whole)) return whole;
  if (kind === "Service" && Array.isArray(whole["ports"]))
    return { ...whole, ports: whole["ports"].map((one) => withDefaults(one, { protocol: "TCP" })) };
  const template = whole["template"];
  if (kind !== "StatefulSet" || !isRecord(template) || !isRecord(template["spec"])) return whole;
  const containers = template["spec"]["containers"];
  return {
    ...whole,
    template: {
      ...template,
      spec: { ...template["spec"], containers: Array.isArray(containers) ? containers.map(containerOf) : containers },
    },
  };
};

const served = (object: Json): Json => {
  const metadata = isRecord(object["metadata"]) ? object["metadata"] : {};
  const ofServer = ["creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"];
  return {
    ...omit(object, "status"),
    metadata: Object.fromEntries(Object.entries(metadata).filter(([key]) => !ofServer.includes(key))),
    spec: specOf(`${object["kind"]}`, object["spec"]),
  };
};

const yamlIn = (file: string): Json => {
  const value: unknown = parse(readFileSync(file, "utf8"));
  return isRecord(value) ? value : {};
};

/** Compares one recorded object with ours of the same kind and name. */
export const clusterDifferences = (data: string, file: string, cluster: Named): readonly Difference[] => {
  const theirs = served(yamlIn(join(data, "spark-kubernetes-operator", "recorded", file)));
  const label = labelOf(theirs);
  const made = clusterFor(cluster);
  if ("refused" in made) return [{ path: "refused", ours: made.refused, theirs: "accepted" }];
  const mine = made.objects.find((object) => labelOf(object) === label);
  return mine === undefined
    ? [{ path: label, ours: undefined, theirs: "made" }]
    : differences(served(mine), theirs, label);
};

/** Reads the recorded status of a cluster and writes it again. */
export const clusterStatusDifferences = (data: string): readonly Difference[] => {
  const { status } = yamlIn(join(data, "spark-kubernetes-operator", "recorded", "sparkcluster-cluster-with-hpa.yaml"));
  const states = statesIn(status);
  return states === undefined
    ? [{ path: "status", ours: undefined, theirs: "a status" }]
    : differences(statusOf(states), status, "status");
};
