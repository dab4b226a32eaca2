/**
 * Compares the next attempt of an application with that of its translation: both are built, and whatever differs beyond names,
 * labels and the confs that each operator sets itself is reported. Pure.
 */
import { digestOf, fieldsOf, jsonOf, omit, recordsIn, same } from "../../../core/json.ts";
import type { Obj } from "../../../core/object.ts";
import { podSpecIn } from "../../../kube/pods.ts";
import { runners } from "../../submission/client.ts";
import { operatorConfs } from "../submission.ts";

/** The objects of an attempt. */
export type Attempt = { readonly before: readonly Obj[]; readonly driver: Obj };

/** Confs that name the attempt, that each operator sets itself, or that say the same as a field of the pod. */
const own = [
  /^spark\.(app\.(id|name|submitTime)|driver\.host|master|submit\.(deployMode|pyFiles)|kubernetes\.namespace)$/,
  /^spark\.kubernetes\.(submission\.waitAppCompletion|driver\.pod\.name|driver\.podTemplateContainerName)$/,
  /^spark\.kubernetes\.(driver|executor)\.podTemplate(File|ContainerName)$/,
  /^spark\.kubernetes\.(driver|executor|driver\.service)\.label\./,
  /^spark\.(kubernetes\.driverEnv|executorEnv)\.REKINDLE_/,
  // Rekindle's own budget of lost executors, which each API computes from its own fields.
  /^spark\.executor\.(failuresValidityInterval|maxNumFailures)$/,
];

/** The values of confs that are not set. */
const defaults: Readonly<Record<string, string>> = {
  ...{
    "spark.driver.cores": "1",
    "spark.executor.cores": "1",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1g",
  },
  ...Object.fromEntries(Object.keys(operatorConfs).map((key) => [key, "false"])),
  ...{ "spark.kubernetes.executor.deleteOnTermination": "true", "spark.executor.instances": "2", "spark.jars": "" },
};

const image = "spark.kubernetes.container.image";

const propertiesIn = ({ before }: Attempt): ReadonlyMap<string, string> => {
  const texts = before.map(({ data }) => fieldsOf(data)["spark.properties"]).filter((text) => typeof text === "string");
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => line.startsWith("spark."));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
};

const confsOf = (attempt: Attempt): Readonly<Record<string, string>> => {
  const given = propertiesIn(attempt);
  const images = ["driver", "executor"].map((role): [string, string] => {
    const key = `spark.kubernetes.${role}.container.image`;
    return [key, given.get(key) ?? given.get(image) ?? ""];
  });
  const kept = [...given].filter(([key]) => key !== image && !own.some((pattern) => pattern.test(key)));
  return { ...defaults, ...Object.fromEntries([...kept, ...images]) };
};

/** The entries of a list whose order says nothing, as digests. */
const entriesOf = (list: unknown): readonly string[] => recordsIn(list).map(digestOf).toSorted();

/** Without the values that hold names of the attempt. */
const containerOf = (container: Readonly<Record<string, unknown>>): unknown => {
  const { securityContext, env, args, ...rest } = container;
  const security = omit(fieldsOf(securityContext), "allowPrivilegeEscalation");
  const variables = recordsIn(env).filter(({ name }) => !/^(SPARK_APPLICATION_ID|REKINDLE_.*)$/.test(String(name)));
  return {
    ...rest,
    env: entriesOf(variables),
    // A Python program has no class: Spark's runner of it, and an empty text, mean the same.
    args: (Array.isArray(args) ? args : []).map((one) => (one === runners.python ? "" : one)),
    // The port tells what Spark's client knows, and opens nothing.
    ports: entriesOf(recordsIn(rest["ports"]).filter(({ name }) => name !== "spark-connect")),
    volumeMounts: entriesOf(recordsIn(rest["volumeMounts"]).filter(isUsers)),
    ...(Object.keys(security).length === 0 ? {} : { security }),
  };
};

/** False for the volumes of the attempt's own ConfigMaps and scratch space. */
const isUsers = ({ name }: Readonly<Record<string, unknown>>): boolean =>
  !/^(spark-conf-volume-driver|pod-template-volume|spark-local-dir-\d+)$/.test(String(name));

const containersOf = (list: unknown): readonly string[] => recordsIn(list).map(containerOf).map(digestOf).toSorted();

const podOf = (spec: unknown): Readonly<Record<string, unknown>> => {
  const fields = fieldsOf(spec);
  return {
    ...fields,
    containers: containersOf(fields["containers"]),
    initContainers: containersOf(fields["initContainers"]),
    volumes: entriesOf(recordsIn(fields["volumes"]).filter(isUsers)),
    tolerations: entriesOf(fields["tolerations"]),
  };
};

const executorName = "spark-kubernetes-executor";

/** The executors' template; Spark names a container without a name, and makes one where there is no template. */
const templateIn = ({ before }: Attempt): Readonly<Record<string, unknown>> => {
  const text = before.map(({ data }) => fieldsOf(data)["podspec-configmap-key"]).find((one) => typeof one === "string");
  const spec = podSpecIn(jsonOf(typeof text === "string" ? text : "{}"));
  const containers = recordsIn(spec["containers"] ?? [{}]).map((one) => ({ name: executorName, ...one }));
  return podOf({ ...spec, containers });
};

const differences = (
  where: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((key) => !same(before[key], after[key]))
    .map((key) => `${where} ${key}`);

/** The names of what differs; none where the next attempt is the same in both APIs. */
export const compared = (before: Attempt, after: Attempt): readonly string[] => [
  ...differences("conf", confsOf(before), confsOf(after)),
  ...differences("driver pod's spec", podOf(before.driver.spec), podOf(after.driver.spec)),
  ...differences("executor pods' template", templateIn(before), templateIn(after)),
];
