/** Fields of an application that take another effect than under upstream's webhook, reported to people. */

import { standIn } from "../configuration/versions.ts";
import type { SparkApplicationSpec } from "../schema/application.ts";
import { ignoredVolumes } from "./mounts.ts";

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

export const notesOf = (spec: SparkApplicationSpec): readonly string[] => [
  ...rules.flatMap((rule) => rule(spec) ?? []),
  ...ignoredVolumes(spec),
];
