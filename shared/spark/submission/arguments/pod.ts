/** Confs that are alike for both roles of a SparkApplication: labels, amounts, image, secrets, scratch volumes. */

import { isRecord } from "../../../core/json.ts";
import type { Json } from "../../../kube/responses.ts";
import { withoutEnd } from "../../configuration/conf.ts";
import type { SparkApplicationSpec, SparkPodSpec } from "../../schema/application.ts";

export type Pair = readonly [string, string];

export const pairIfSet = (key: string, value: string | number | boolean | undefined): Pair[] =>
  value === undefined ? [] : [[key, `${value}`]];

export const each = (prefix: string, values: Readonly<Record<string, string>> | undefined): Pair[] =>
  Object.entries(values ?? {}).map(([key, value]) => [`${prefix}${key}`, value]);

/** The application's name, labels and spec, and the id of its submission. */
export type Subject = {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: SparkApplicationSpec;
  readonly submissionId: string;
};

export type Role = "driver" | "executor";

/** The application's labels for its pods, without Kueue's, which are about the application alone. */
const passedOn = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith("kueue.x-k8s.io/")));

/** True for Spark 3 and later, which read pod templates. */
const knowsTemplates = ({ sparkVersion }: SparkApplicationSpec): boolean => !/^[012]\./.test(sparkVersion);

export const operatorLabels = (role: Role, subject: Subject): Pair[] => {
  const prefix = `spark.kubernetes.${role}.label.sparkoperator.k8s.io/`;
  const mutated = subject.spec[role].template === undefined || !knowsTemplates(subject.spec);
  return [
    [`${prefix}app-name`, subject.name],
    [`${prefix}launched-by-spark-operator`, "true"],
    ...(mutated ? pairIfSet(`${prefix}mutated-by-spark-operator`, true) : []),
    [`${prefix}submission-id`, subject.submissionId],
  ];
};

export const amounts = (role: Role, pod: SparkPodSpec, spec: SparkApplicationSpec): Pair[] => [
  ...pairIfSet(`spark.kubernetes.${role}.container.image`, pod.image || spec.image),
  ...pairIfSet(`spark.${role}.cores`, pod.cores),
  ...pairIfSet(`spark.kubernetes.${role}.request.cores`, pod.coreRequest),
  ...pairIfSet(`spark.kubernetes.${role}.limit.cores`, pod.coreLimit),
  ...pairIfSet(`spark.${role}.memory`, pod.memory),
  ...pairIfSet(`spark.${role}.memoryOverhead`, pod.memoryOverhead),
  ...pairIfSet(`spark.kubernetes.authenticate.${role}.serviceAccountName`, pod.serviceAccount),
];

export const podArguments = (role: Role, pod: SparkPodSpec, subject: Subject): Pair[] => [
  ...each(`spark.kubernetes.${role}.label.`, { ...passedOn(subject.labels), ...pod.labels }),
  ...each(`spark.kubernetes.${role}.annotation.`, pod.annotations),
];

export const secretKeys = (role: Role, pod: SparkPodSpec): Pair[] =>
  Object.entries(pod.envSecretKeyRefs ?? {}).map(([variable, { name, key }]) => [
    `spark.kubernetes.${role}.secretKeyRef.${variable}`,
    `${name}:${key}`,
  ]);

/** Secret types with a variable that points to a file in them. */
const pointers: Readonly<Record<string, readonly [variable: string, file: string]>> = {
  GCPServiceAccount: ["GOOGLE_APPLICATION_CREDENTIALS", "key.json"],
  HadoopDelegationToken: ["HADOOP_TOKEN_FILE_LOCATION", "hadoop.token"],
};

const envPrefix = { driver: "spark.kubernetes.driverEnv.", executor: "spark.executorEnv." } as const;

export const secrets = (role: Role, pod: SparkPodSpec): Pair[] =>
  (pod.secrets ?? []).flatMap(({ name, path, secretType }): Pair[] => {
    const pointer = pointers[secretType];
    return [
      [`spark.kubernetes.${role}.secrets.${name}`, path],
      ...(pointer === undefined
        ? []
        : pairIfSet(`${envPrefix[role]}${pointer[0]}`, `${withoutEnd(path, "/")}/${pointer[1]}`)),
    ];
  });

export const isScratch = (name: unknown): boolean => typeof name === "string" && name.startsWith("spark-local-dir-");

const kinds = ["hostPath", "emptyDir", "nfs", "persistentVolumeClaim"] as const;

const optionNames: Readonly<Record<(typeof kinds)[number], readonly string[]>> = {
  hostPath: ["path", "type"],
  emptyDir: ["medium", "sizeLimit"],
  nfs: ["path", "server", "readOnly"],
  persistentVolumeClaim: ["claimName", "readOnly"],
};

const plain = (value: unknown): string | undefined => {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (typeof value === "number") return `${value}`;
  return value === true ? "true" : undefined;
};

const confsOf = (role: Role, volume: Json, mount: Json): Pair[] => {
  const kind = kinds.find((name) => isRecord(volume[name]));
  if (kind === undefined) return [];
  const source = volume[kind];
  const prefix = `spark.kubernetes.${role}.volumes.${kind}.${volume["name"]}.`;
  return [
    ...pairIfSet(`${prefix}mount.path`, plain(mount["mountPath"])),
    ...pairIfSet(`${prefix}mount.subPath`, plain(mount["subPath"])),
    ...pairIfSet(`${prefix}mount.readOnly`, plain(mount["readOnly"])),
    ...optionNames[kind].flatMap((name) =>
      pairIfSet(`${prefix}options.${name}`, isRecord(source) ? plain(source[name]) : undefined),
    ),
  ];
};

const pairsOf = (role: Role, spec: SparkApplicationSpec): readonly (readonly [volume: Json, mount: Json])[] =>
  (spec[role].volumeMounts ?? []).flatMap((mount) => {
    const volume = spec.volumes?.find(({ name }) => name === mount["name"]);
    return volume !== undefined && isScratch(volume["name"]) ? [[volume, mount] as const] : [];
  });

export const scratch = (role: Role, spec: SparkApplicationSpec): Pair[] =>
  pairsOf(role, spec).flatMap(([volume, mount]) => confsOf(role, volume, mount));

/** Scratch volumes of types that Spark's confs cannot express. */
export const wrongScratch = (spec: SparkApplicationSpec): readonly string[] =>
  [...pairsOf("driver", spec), ...pairsOf("executor", spec)]
    .filter(([volume]) => !kinds.some((kind) => isRecord(volume[kind])))
    .map(([volume]) => `spec.volumes: unsupported volume type of ${volume["name"]}: use ${kinds.join(", ")}`);
