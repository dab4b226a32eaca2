/** Reports to people: fields of an application that take another effect than under upstream's webhook, volumes and mounts that
 * reach no pod, and ConfigMaps that are too large for their driver. */

import { isRecord } from "../../core/json.ts";
import type { Obj } from "../../core/object.ts";
import type { Json } from "../../kube/responses.ts";
import { standIn } from "../configuration/versions.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";

const roles = ["driver", "executor"] as const;
type Role = (typeof roles)[number];

const nameOf = (volume: Json): string => (typeof volume["name"] === "string" ? volume["name"] : "");

const quoted = (text: string): string => JSON.stringify(text);

const templateVolumes = (spec: SparkApplicationSpec, role: Role): readonly string[] => {
  const { template } = spec[role];
  const inner = isRecord(template) && isRecord(template["spec"]) ? template["spec"]["volumes"] : undefined;
  return Array.isArray(inner) ? inner.filter(isRecord).map(nameOf) : [];
};

const undeclared = (spec: SparkApplicationSpec, role: Role): readonly string[] => {
  const declared = new Set((spec.volumes ?? []).map(nameOf));
  const inTemplate = new Set(templateVolumes(spec, role));
  return (spec[role].volumeMounts ?? []).flatMap((mount, at) => {
    const name = nameOf(mount);
    if (declared.has(name)) return [];
    const path = typeof mount["mountPath"] === "string" ? mount["mountPath"] : "";
    const help = inTemplate.has(name)
      ? `it stands in spec.${role}.template alone: mount it there, or declare it in spec.volumes`
      : "declare it there, or correct the name";
    return [
      `spec.${role}.volumeMounts[${at}] is ignored: spec.volumes declares no volume ${quoted(name)}, so nothing is mounted at ${quoted(path)}; ${help}`,
    ];
  });
};

const repeated = ({ volumes = [] }: SparkApplicationSpec): readonly string[] => {
  const names = volumes.map(nameOf);
  return names.flatMap((name, at) => {
    const first = names.indexOf(name);
    return first === at
      ? []
      : [
          `spec.volumes[${at}] is ignored: spec.volumes[${first}] has the same name ${quoted(name)}, and the first one is used; give each volume a name of its own`,
        ];
  });
};

/** Volumes that a pod template's volume of the same name replaces; the mount is of the template's. */
const shadowed = (spec: SparkApplicationSpec, role: Role): readonly string[] => {
  const inTemplate = new Set(templateVolumes(spec, role));
  const mounted = new Set((spec[role].volumeMounts ?? []).map(nameOf));
  return (spec.volumes ?? []).flatMap((volume, at) => {
    const name = nameOf(volume);
    if (!inTemplate.has(name) || !mounted.has(name)) return [];
    return [
      `spec.volumes[${at}] is ignored in the ${role}: spec.${role}.template has a volume of the same name ${quoted(name)}, which is mounted in its place`,
    ];
  });
};

/** One sentence for each ignored volume or mount. */
export const ignoredVolumes = (spec: SparkApplicationSpec): readonly string[] => [
  ...repeated(spec),
  ...roles.flatMap((role) => [...undeclared(spec, role), ...shadowed(spec, role)]),
];

type Rule = (spec: SparkApplicationSpec) => string | undefined;

const memoryLimit: Rule = ({ executor }) =>
  executor.memoryLimit === undefined
    ? undefined
    : "spec.executor.memoryLimit needs the admission webhook: Spark overwrites the limit of a pod template";

/** Variables that Spark sets in every executor after the template's. */
const sparks =
  /^SPARK_(DRIVER_URL|EXECUTOR_(CORES|MEMORY|ID|POD_IP|POD_NAME)|APPLICATION_ID|CONF_DIR|RESOURCE_PROFILE_ID|USER|LOCAL_DIRS|JAVA_OPT_\d+)$/;

const executorEnv: Rule = ({ executor }) => {
  const names = (executor.env ?? []).map(({ name }) => `${name}`).filter((name) => sparks.test(name));
  return names.length === 0
    ? undefined
    : `spec.executor.env: Spark sets ${names.join(", ")} itself, and its value wins`;
};

const sparkConfigMap: Rule = ({ sparkConfigMap: name }) =>
  name === undefined
    ? undefined
    : `spec.sparkConfigMap: in executors ${name} is mounted at /etc/spark/conf, but Spark's SPARK_CONF_DIR wins`;

const packages: Rule = ({ deps }) =>
  deps?.packages?.length ? "spec.deps.packages are resolved by the driver, not before it starts" : undefined;

const version: Rule = ({ sparkVersion }) => standIn(sparkVersion);

/** Fields of the operator's first version, without effect. */
const dead: Rule = ({ failureRetries, retryInterval }) =>
  failureRetries === undefined && retryInterval === undefined
    ? undefined
    : "spec.failureRetries and spec.retryInterval have no effect, here or in upstream's operator: use spec.restartPolicy";

const rules: readonly Rule[] = [version, memoryLimit, executorEnv, sparkConfigMap, packages, dead];

/** Fields of an application that take another effect than under upstream's webhook, reported to people. */
export const notesOf = (spec: SparkApplicationSpec): readonly string[] => rules.flatMap((rule) => rule(spec) ?? []);

/** The most bytes of all values of one ConfigMap, by the API server's limit. */
const most = 1_048_576;

const bytesOf = (text: string): number => Buffer.byteLength(text);

const valuesOf = ({ data }: Obj): readonly string[] =>
  isRecord(data) ? Object.values(data).filter((value) => typeof value === "string") : [];

type Field = { readonly path: string; readonly bytes: number; readonly largest?: string };

/** Confs of one field; `largest` is the key with the longest value. */
const confsOf = (path: string, confs: Readonly<Record<string, string>> = {}): Field => {
  const entries = Object.entries(confs);
  const bytes = entries.reduce((sum, [key, value]) => sum + bytesOf(key) + bytesOf(value), 0);
  const [largest] = entries.toSorted(([, one], [, other]) => bytesOf(other) - bytesOf(one));
  return { path, bytes, ...(largest === undefined ? {} : { largest: `${largest[0]} (${bytesOf(largest[1])} bytes)` }) };
};

const textOf = (path: string, value: unknown): Field => ({
  path,
  bytes: value === undefined ? 0 : bytesOf(JSON.stringify(value)),
});

/** The fields that become ConfigMaps of a submission. */
const fieldsOf = (spec: SparkApplicationSpec): readonly Field[] => [
  confsOf("spec.sparkConf", spec.sparkConf),
  confsOf("spec.hadoopConf", spec.hadoopConf),
  textOf("spec.executor.template", spec.executor.template),
  textOf("spec.monitoring", spec.monitoring),
];

/** The error of a ConfigMap that the API server would refuse for its size; undefined when all of them fit. */
export const oversizedConfigMap = (spec: SparkApplicationSpec, objects: readonly Obj[]): string | undefined => {
  const sizes = objects
    .filter(({ kind }) => kind === "ConfigMap")
    .map((map) => valuesOf(map).reduce((sum, value) => sum + bytesOf(value), 0));
  const largest = Math.max(0, ...sizes);
  const [field] = fieldsOf(spec).toSorted((one, other) => other.bytes - one.bytes);
  if (largest <= most || field === undefined) return undefined;
  const longest = field.largest === undefined ? "" : `, most of them in ${field.largest}`;
  return `${field.path} is too large: it has ${field.bytes} bytes${longest}; the driver reads it from a ConfigMap, which holds ${most} bytes and would need ${largest}: make it shorter`;
};
