/** Confs that are alike for both roles of a SparkApplication: labels, amounts, image, secrets, scratch volumes. */

import { withoutEnd } from "../../configuration/conf.ts";
import type { SparkApplicationSpec } from "../../schema/application.ts";
import type { SparkPodSpec } from "../../schema/pod.ts";
import type { Pair } from "./pairs.ts";
import { each, given } from "./pairs.ts";
import type { Subject } from "./subject.ts";

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
    ...(mutated ? given(`${prefix}mutated-by-spark-operator`, true) : []),
    [`${prefix}submission-id`, subject.submissionId],
  ];
};

export const amounts = (role: Role, pod: SparkPodSpec, spec: SparkApplicationSpec): Pair[] => [
  ...given(`spark.kubernetes.${role}.container.image`, pod.image || spec.image),
  ...given(`spark.${role}.cores`, pod.cores),
  ...given(`spark.kubernetes.${role}.request.cores`, pod.coreRequest),
  ...given(`spark.kubernetes.${role}.limit.cores`, pod.coreLimit),
  ...given(`spark.${role}.memory`, pod.memory),
  ...given(`spark.${role}.memoryOverhead`, pod.memoryOverhead),
  ...given(`spark.kubernetes.authenticate.${role}.serviceAccountName`, pod.serviceAccount),
];

export const words = (role: Role, pod: SparkPodSpec, subject: Subject): Pair[] => [
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
        : given(`${envPrefix[role]}${pointer[0]}`, `${withoutEnd(path, "/")}/${pointer[1]}`)),
    ];
  });
